import type { Clock } from "../clock.js";

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /**
   * Moves time on, calling back what falls due on the way, in order. Lets promises settle between
   * callbacks, so that what a callback starts is seen before the next one.
   */
  advance(ms: number): Promise<void>;
  /** Moves time on without calling anybody: a stalled event loop. The next `advance` finds it all late. */
  stall(ms: number): void;
  /** Moves the wall clock alone, as an administrator or NTP does. */
  shiftWall(ms: number): void;
  /** How many callbacks are waiting. */
  readonly pending: number;
}

/** @param startMs wall clock at the start, milliseconds since 1970 */
export function manualClock(startMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = 0;
  let wallShiftMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();

  async function advance(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    await settlePromises();
    for (;;) {
      const [next] = [...timers]
        .filter((timer) => timer.atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      timers.delete(next);
      nowMs = Math.max(nowMs, next.atMs);
      next.callback();
      await settlePromises();
    }
    nowMs = untilMs;
  }

  return {
    now: () => nowMs,
    wallMicros: () => BigInt(Math.round((startMs + nowMs + wallShiftMs) * 1000)),
    after(delayMs, callback) {
      const timer = { atMs: nowMs + Math.max(delayMs, 0), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance,
    stall(ms) {
      nowMs += ms;
    },
    shiftWall(ms) {
      wallShiftMs += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** `setImmediate` runs after every promise callback that is ready. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
