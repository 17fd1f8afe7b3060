import { describe, expect, it } from "vitest";
import { nextFence } from "../src/index.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";
import { granted } from "./support/promises.js";

const edges: [from: bigint, to: bigint][] = [
  [9n, 11n],
  [99n, 101n],
  [2n ** 53n - 1n, 2n ** 53n + 2n],
  [2n ** 63n - 3n, 2n ** 63n - 1n],
];

describe("fences", () => {
  it.each(edges)("every step from %s to %s is one up, exactly", (from, to) => {
    let fence = from;
    while (fence < to) {
      const next = nextFence(fence, 0n);
      expect(next).toBe(fence + 1n);
      fence = next;
    }
  });

  it("a fence is never below the server's clock, and never repeats when that stands still", () => {
    expect(nextFence(undefined, 500n)).toBe(500n);
    expect(nextFence(4n, 500n)).toBe(500n);
    expect(nextFence(499n, 500n)).toBe(500n);
    expect(nextFence(500n, 500n)).toBe(501n);
    expect(nextFence(600n, 500n)).toBe(601n);
  });

  it.each(edges)("grants from %s to %s carry every fence once, in order", async (from, to) => {
    const clock = manualClock(0);
    const store = memoryStore(clock);
    store.graphs("test").set("g", { fence: from, expiresAt: 0, takenAt: 0 });
    const coordinator = memoryCoordinator({ store });
    for (let expected = from + 1n; expected <= to; expected++) {
      const grant = await granted(coordinator.acquire("g"));
      expect(grant.fence).toBe(expected);
      await grant.settle({ kind: "done" });
    }
  });

  it("fences rise over lost data, and over a server clock that is set back", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const coordinator = memoryCoordinator({ store });
    const fenceNow = async () => {
      const grant = await granted(coordinator.acquire("g"));
      await grant.settle({ kind: "done" });
      return grant.fence;
    };
    const first = await fenceNow();
    clock.shiftWall(-3_600_000);
    const second = await fenceNow();
    expect(second).toBe(first + 1n);
    clock.shiftWall(3_600_000);
    await clock.advance(1);
    store.loseData();
    expect(await fenceNow()).toBeGreaterThan(second);
  });
});
