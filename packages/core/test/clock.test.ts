import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const machine = vi.hoisted(() => ({ uptime: 1_000, onRead: () => {} }));
vi.mock("node:os", async (original) => ({
  ...(await original<typeof import("node:os")>()),
  uptime() {
    const value = machine.uptime;
    machine.onRead();
    return value;
  },
}));

const { systemClock } = await import("../src/clock.js");

let monotonic = 0;
/** Time in which the machine is awake. */
function awake(ms: number): void {
  monotonic += ms;
  machine.uptime += ms / 1000;
}

describe("the clock of this process", () => {
  beforeEach(() => {
    monotonic = 50_000;
    machine.onRead = () => {};
    vi.spyOn(performance, "now").mockImplementation(() => {
      const value = monotonic;
      machine.onRead();
      return value;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it("time that the machine slept counts, though the monotonic clock stood still", () => {
    const clock = systemClock();
    const before = clock.now();
    awake(1_000);
    machine.uptime += 7_200;
    expect(clock.now() - before).toBeCloseTo(7_201_000, 3);
    awake(10);
    expect(clock.now() - before).toBeCloseTo(7_201_010, 3);
    machine.uptime += 60;
    expect(clock.now() - before).toBeCloseTo(7_261_010, 3);
  });

  it("a wall clock that is set an hour on or back moves nothing", () => {
    const clock = systemClock();
    const before = clock.now();
    const wall = vi.spyOn(Date, "now");
    for (const shiftMs of [3_600_000, -3_600_000]) {
      wall.mockReturnValue(1_700_000_000_000 + shiftMs);
      expect(clock.now()).toBe(before);
      expect(clock.wallMicros()).toBe(BigInt(1_700_000_000_000 + shiftMs) * 1000n);
    }
  });

  it("the rounding of the uptime is not taken for sleep", () => {
    const clock = systemClock();
    const before = clock.now();
    machine.uptime += 0.4;
    expect(clock.now()).toBe(before);
  });

  it("a process suspended while it reads its clock does not count the suspension twice", () => {
    const clock = systemClock();
    const before = clock.now();
    machine.onRead = () => {
      machine.onRead = () => {};
      awake(5_000);
    };
    clock.now();
    expect(clock.now() - before).toBe(5_000);
  });

  it("a timer of 30 days does not fire at once, and fires after 30 days", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const fired = vi.fn();
    systemClock().after(30 * 86_400_000, fired);
    vi.advanceTimersByTime(30 * 86_400_000 - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  it("a timer of 30 days can be cancelled in its second half", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const fired = vi.fn();
    const cancel = systemClock().after(30 * 86_400_000, fired);
    vi.advanceTimersByTime(29 * 86_400_000);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});
