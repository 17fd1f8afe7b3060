import { describe, expect, it } from "vitest";
import { assertGraphName, InvalidNameError, maxGraphNameLength } from "../src/index.js";
import { errorOf } from "./support/promises.js";
import { setup } from "./support/setup.js";

const allowed: [what: string, name: string][] = [
  ["one letter", "g"],
  ["another case of it", "G"],
  ["a composed accent", "caf\u00e9"],
  ["a digit as text", "1"],
  ["a prefix of another name", "a"],
  ["a longer name", "ab"],
  ["a slash", "a/b"],
  ["braces, which Redis reads as a hash tag", "{x}"],
  ["a star", "*"],
  ["a percent sign", "%"],
  ["a space inside", "a b"],
  ["exactly 200 characters", "x".repeat(200)],
  ["200 characters outside the basic plane", "\u{1F980}".repeat(200)],
];

const forbidden: [what: string, name: unknown, says: RegExp][] = [
  ["nothing", "", /is empty/],
  ["white space alone", "  ", /begins or ends with white space/],
  ["a trailing space", "g ", /begins or ends with white space/],
  ["a leading space", " g", /begins or ends with white space/],
  ["a trailing no-break space", "g\u00a0", /begins or ends with white space/],
  ["a decomposed accent", "cafe\u0301", /Unicode NFC/],
  ["a number", 1, /^Graph name 1 is not a string/],
  ["undefined", undefined, /^Graph name undefined is not a string/],
  ["null", null, /^Graph name null is not a string/],
  ["an object that has no text form", Object.create(null), /is not a string/],
  ["a symbol", Symbol("g"), /^Graph name Symbol\(g\) is not a string/],
  ["a megabyte", "x".repeat(1_000_000), /is longer than 200 characters/],
  ["201 characters", "x".repeat(201), /is longer than 200 characters/],
  ["a lone surrogate", "\ud800", /unpaired surrogate/],
  ["a zero character", "x\u0000y", /control character/],
  ["a line feed at the end", "x\n", /control character/],
  ["a C1 control", "x\u0085y", /control character/],
];

describe("the rule for graph names", () => {
  it.each(allowed)("%s is a name", (_, name) => {
    expect(() => assertGraphName(name)).not.toThrow();
  });

  it.each(forbidden)("%s is refused, and the message says why", (_, name, says) => {
    expect(() => assertGraphName(name)).toThrow(InvalidNameError);
    expect(() => assertGraphName(name)).toThrow(says);
  });

  it("the message about a megabyte of name stays short and gives its length", () => {
    expect(() => assertGraphName("x".repeat(1_000_000))).toThrow(/^.{0,200}$/);
    expect(() => assertGraphName("x".repeat(1_000_000))).toThrow("1000000 code units");
  });

  it("the longest name has 200 characters", () => {
    expect(maxGraphNameLength).toBe(200);
  });

  it.each(forbidden)("%s never reaches the backend", async (_, name) => {
    const { coordinator, port, events } = setup();
    expect(await errorOf(coordinator.acquire(name as string))).toMatchObject({
      code: "INVALID_NAME",
    });
    if (name !== undefined)
      expect(await errorOf(coordinator.inspect(name as string))).toMatchObject({
        code: "INVALID_NAME",
      });
    expect(port.takes).toEqual([]);
    expect(events).toEqual([]);
  });
});
