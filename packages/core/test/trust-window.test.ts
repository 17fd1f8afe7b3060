import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { trustWindow } from "../src/index.js";
import { manualClock } from "../src/testing/index.js";

const life = { ttlMs: 1_000, safetyMarginMs: 100 };

describe("the trust window", () => {
  it("it is counted from when the request was sent, not from when its answer came", () => {
    const clock = manualClock();
    const sentAt = clock.now();
    clock.stall(600);
    const trust = trustWindow(clock, life, sentAt);
    expect(trust.leftMs()).toBe(300);
    clock.stall(200);
    trust.extend(650);
    expect(trust.leftMs()).toBe(750);
    expect(trust.sinceGoodMs()).toBe(150);
  });

  it("an answer that comes out of order never shortens it", () => {
    const clock = manualClock();
    const trust = trustWindow(clock, life, 0);
    trust.extend(500);
    trust.extend(200);
    expect(trust.leftMs()).toBe(1_400);
  });

  it("it never lasts longer than the backend's own count, whatever the delays", () => {
    const round = fc.record({
      waitMs: fc.integer({ min: 0, max: 1_500 }),
      toBackendMs: fc.integer({ min: 0, max: 400 }),
      toUsMs: fc.integer({ min: 0, max: 1_500 }),
    });
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 20 }), (rounds) => {
        const clock = manualClock();
        const trust = trustWindow(clock, life, 0);
        let backendEndsAt = life.ttlMs;
        const check = () => {
          if (trust.leftMs() > 0) expect(clock.now()).toBeLessThan(backendEndsAt);
        };
        for (const { waitMs, toBackendMs, toUsMs } of rounds) {
          clock.stall(waitMs);
          check();
          const sentAt = clock.now();
          clock.stall(toBackendMs);
          check();
          const renewed = clock.now() < backendEndsAt;
          if (renewed) backendEndsAt = clock.now() + life.ttlMs;
          clock.stall(toUsMs);
          check();
          if (renewed) trust.extend(sentAt);
          check();
        }
      }),
    );
  });
});
