import { describe, expect, it } from "vitest";
import { InvalidOptionError, windowHasRun, windowIdentity } from "../src/index.js";

const noon = "2026-07-01T12:00:00.000Z";

describe("windows", () => {
  it.each([
    ["a Date", new Date(noon)],
    ["seconds", "2026-07-01T12:00:00Z"],
    ["minutes", "2026-07-01T12:00Z"],
    ["another time zone", "2026-07-01T14:00:00+02:00"],
    ["a zone without a colon", "2026-07-01T14:00:00+0200"],
  ])("one time written as %s is one window", (_, window) => {
    expect(windowIdentity(window).id).toBe(noon);
  });

  it.each(["2026-07-01", "week 27", "2026-07-01T12:00"])(
    "%s is no time with a zone, so it is compared as text alone",
    (window) => {
      expect(windowIdentity(window)).toEqual({ id: window });
    },
  );

  it.each([
    ["an invalid Date", new Date(Number.NaN), "window is an invalid Date."],
    ["a month 13", "2026-13-01T00:00:00Z", "is not a real time"],
    ["February 30, which Date takes for March 2", "2026-02-30T00:00:00Z", "is not a real time"],
    ["an hour 25", "2026-01-01T25:00:00Z", "is not a real time"],
    ["an empty string", "", '1 to 200 characters without control characters, not ""'],
    ["an overlong string", "x".repeat(201), "(201 code units)"],
    ["a control character", "a\u0000b", "without control characters"],
    ["a lone surrogate", "\udc00", "without control characters"],
    ["a number", 5, "not 5."],
    ["a bigint, which JSON cannot write", 5n, "not 5n."],
    ["null", null, "not null."],
  ])("%s is refused", (_, window, says) => {
    expect(() => windowIdentity(window as string)).toThrow(InvalidOptionError);
    expect(() => windowIdentity(window as string)).toThrow(says);
  });

  const at = (time: string) => windowIdentity(time);
  it("the window that was done last has run, and so has every earlier one", () => {
    expect(windowHasRun(at("2026-07-01T12:00Z"), at(noon))).toBe(true);
    expect(windowHasRun(at("2026-07-01T11:59Z"), at(noon))).toBe(true);
    expect(windowHasRun(at("2026-07-01T12:01Z"), at(noon))).toBe(false);
  });

  it("names have no order: only the same one has run", () => {
    expect(windowHasRun(at("b"), at("b"))).toBe(true);
    expect(windowHasRun(at("a"), at("b"))).toBe(false);
    expect(windowHasRun(at("a"), at(noon))).toBe(false);
    expect(windowHasRun(at(noon), at("a"))).toBe(false);
  });

  it("nothing has run where nothing was ever done", () => {
    expect(windowHasRun(at(noon), undefined)).toBe(false);
  });
});
