import { uptime } from "node:os";

/** Time as the coordinators see it. Injected, so that tests can move it by hand. */
export interface Clock {
  /** Milliseconds that never step back and go on while the machine sleeps. Only differences mean something. */
  now(): number;
  /** Microseconds since 1970, of this machine. Only for stores that are their own server. */
  wallMicros(): bigint;
  /** Calls back after `delayMs`, however long that is. The function returned cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Longest delay that Node's timers keep; a longer one fires at once. */
const longestTimerMs = 2 ** 31 - 1;
/** `uptime()` is rounded, to 10 ms on Linux; a gap above this is a machine that slept. */
const sleepThresholdMs = 500;

/**
 * The clock of this process.
 *
 * Node's monotonic clock stands still while the machine sleeps, and a lease does not. The kernel's
 * uptime goes on, and unlike `Date.now()` nobody can set it, so the difference between the two is
 * time slept: see clock_gettime(2), CLOCK_MONOTONIC and CLOCK_BOOTTIME.
 *
 * The uptime is always read first: a process that is suspended between the two readings then sees too
 * little time slept, and finds out at the next reading, instead of counting the suspension twice.
 */
export function systemClock(): Clock {
  const uptimeStart = uptime();
  const monotonicStart = performance.now();
  let sleptMs = 0;

  function now(): number {
    const upMs = (uptime() - uptimeStart) * 1000;
    const monotonic = performance.now();
    const missingMs = upMs - (monotonic - monotonicStart + sleptMs);
    if (missingMs > sleepThresholdMs) sleptMs += missingMs;
    return monotonic + sleptMs;
  }

  return { now, wallMicros: () => BigInt(Date.now()) * 1000n, after: timerAfter };
}

function timerAfter(delayMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  function arm(leftMs: number): void {
    const stepMs = Math.min(Math.max(leftMs, 0), longestTimerMs);
    timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs);
  }
  arm(delayMs);
  return () => clearTimeout(timer);
}
