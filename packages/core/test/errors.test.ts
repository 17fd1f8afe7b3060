import { describe, expect, it, vi } from "vitest";
import * as core from "../src/index.js";

const lost = (from: typeof core) =>
  new from.GrantLostError({
    graph: "price_feed",
    fence: 1764567890123456n,
    reason: "unconfirmed",
    where: "external-lease on redis",
    detail: "last confirmed 9,210 ms ago, ttlMs 10,000",
  });

describe("errors", () => {
  it("of another copy of this package are recognised", async () => {
    vi.resetModules();
    const copy = await import("../src/index.js");
    expect(copy.GrantLostError).not.toBe(core.GrantLostError);
    expect(core.isGrantLost(lost(copy))).toBe(true);
    expect(core.isSoleWriterError(lost(copy))).toBe(true);
    expect(core.isBackendError(new copy.BackendError("BACKEND_FULL", "m"))).toBe(true);
    expect(core.isBackendError(lost(copy))).toBe(false);
    expect(core.isGrantLost(new copy.BackendError("BACKEND_FULL", "m"))).toBe(false);
  });

  it.each([undefined, null, "GRANT_LOST", new Error("x"), { code: "GRANT_LOST" }])(
    "%o is none of ours",
    (other) => {
      expect(core.isSoleWriterError(other)).toBe(false);
      expect(core.isGrantLost(other)).toBe(false);
      expect(core.isBackendError(other)).toBe(false);
    },
  );

  it("the message of a loss says what, where, which fence, since when, and what to do", () => {
    expect(lost(core).message).toBe(
      'Lost the grant on "price_feed" (external-lease on redis, fence 1764567890123456): last confirmed 9,210 ms ago, ttlMs 10,000. Another replica may be writing; this run must stop.',
    );
  });

  it("a holder's id is fresh for every coordinator, also with one label", () => {
    const ids = new Set(Array.from({ length: 100 }, () => core.newHolder("same").id));
    expect(ids.size).toBe(100);
    expect(core.newHolder().label).toMatch(new RegExp(`:${process.pid}$`));
  });

  it.each(["", "x".repeat(101), "a\u0000b", 5n])("%o is no label", (label) => {
    expect(() => core.newHolder(label as string)).toThrow(core.InvalidOptionError);
  });

  it("a refusal through a shared lock key never says that this graph is running", () => {
    const holder = { id: "x", label: "a:1" };
    expect(core.refuse({ graph: "g", reason: "held", holder, keySharedWith: "h" }).message).toBe(
      '"g" shares its lock key with "h", which is held by a:1; "g" itself is not running.',
    );
    expect(core.refuse({ graph: "g", reason: "held" }).message).toBe(
      '"g" is held by a holder that cannot be known.',
    );
  });
});
