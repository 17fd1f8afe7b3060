import { describe, expect, it } from "vitest";
import {
  assertDurationMs,
  assertShorterMs,
  coordinatorOver,
  InvalidOptionError,
  newHolder,
} from "../src/index.js";
import { manualClock, memoryCoordinator } from "../src/testing/index.js";
import { errorOf, granted } from "./support/promises.js";
import { scriptedPort } from "./support/scripted-port.js";
import { setup } from "./support/setup.js";

const nonsense: [unknown, string][] = [
  [0, "0"],
  [-1, "-1"],
  [1.5, "1.5"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "Infinity"],
  ["30", '"30"'],
  [30n, "30n"],
  [null, "null"],
  [367 * 86_400_000, "31708800000"],
];
const day = 86_400_000;

describe("durations", () => {
  it.each(nonsense)("%s is refused, and the message gives unit and value", (value, shown) => {
    const attempt = () => assertDurationMs("ttlMs", value);
    expect(attempt).toThrow(InvalidOptionError);
    expect(attempt).toThrow(
      `ttlMs must be a whole number of milliseconds from 1 to 31622400000 (one year), not ${shown}.`,
    );
  });

  it.each(nonsense)("a coordinator is not built with %s for a time", (value) => {
    const ms = value as number;
    const clock = manualClock();
    const over = (options: object) =>
      coordinatorOver(scriptedPort(clock), { holder: newHolder("me"), ...options });
    if (ms !== null) {
      expect(() => memoryCoordinator({ ttlMs: ms })).toThrow(/^ttlMs must be .* milliseconds/);
      expect(() => memoryCoordinator({ renewEveryMs: ms })).toThrow(/^renewEveryMs must be/);
      expect(() => memoryCoordinator({ acquireTimeoutMs: ms })).toThrow(/^acquireTimeoutMs must/);
      expect(() => over({ releaseTimeoutMs: ms })).toThrow(/^releaseTimeoutMs must/);
    }
  });

  it.each(nonsense)("a call with %s for a time asks nobody", async (value) => {
    const { coordinator, port, clock } = setup();
    const ms = value as number;
    for (const options of [{ acquireTimeoutMs: ms }, { minIntervalMs: ms }])
      expect(await errorOf(coordinator.acquire("g", options))).toMatchObject({
        code: "INVALID_OPTION",
      });
    if (ms !== 0) expect(() => coordinator.close({ graceMs: ms })).toThrow(/^graceMs must be/);
    expect(port.takes).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("seconds given where milliseconds are meant get a hint", () => {
    expect(() => assertDurationMs("ttlMs", 30, 100)).toThrow("30 seconds are 30_000");
  });

  it("a heartbeat that is not shorter than the lease is refused, with both numbers", () => {
    for (const renewEveryMs of [1_000, 1_001])
      expect(() => memoryCoordinator({ ttlMs: 1_000, renewEveryMs })).toThrow(
        `renewEveryMs (${renewEveryMs} ms) must be less than ttlMs (1000 ms): a lease must be renewed before it ends.`,
      );
    expect(() => assertShorterMs("a", 1, "b", 2, "why")).not.toThrow();
  });

  it("a lease of 30 days is renewed for as long and not lost", async () => {
    const clock = manualClock();
    const coordinator = memoryCoordinator({ clock, ttlMs: 30 * day });
    const grant = await granted(coordinator.acquire("g"));
    await clock.advance(90 * day);
    grant.assertHeld();
    await grant.settle({ kind: "done" });
    expect(clock.pending).toBe(0);
  });

  it("a signal that is none is refused, before a turn or the backend is taken", async () => {
    const { coordinator, port } = setup();
    const signal = new AbortController() as unknown as AbortSignal;
    expect(await errorOf(coordinator.acquire("g", { signal }))).toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("signal must be an AbortSignal, not AbortController"),
    });
    expect(port.takes).toEqual([]);
    await granted(coordinator.acquire("g"));
  });
});
