import { InvalidOptionError } from "./errors.js";
import { shown } from "./words.js";

/** One year: longer is a mistake of unit. */
const longestMs = 366 * 24 * 60 * 60 * 1000;

/**
 * Checks a duration in milliseconds.
 * @throws {InvalidOptionError} unless it is a whole number from `leastMs` (default 1) to one year.
 */
export function assertDurationMs(
  option: string,
  value: unknown,
  leastMs = 1,
): asserts value is number {
  if (
    typeof value === "number" &&
    Number.isInteger(value) &&
    value >= leastMs &&
    value <= longestMs
  )
    return;
  const hint =
    typeof value === "number" && value > 0 && value < leastMs
      ? " Durations are in milliseconds: 30 seconds are 30_000."
      : "";
  throw new InvalidOptionError(
    `${option} must be a whole number of milliseconds from ${leastMs} to ${longestMs} (one year), not ${shown(value)}.${hint}`,
  );
}

/**
 * Checks that one duration leaves room for another.
 * @throws {InvalidOptionError} unless `shorterMs` is less than `longerMs`.
 */
export function assertShorterMs(
  shorter: string,
  shorterMs: number,
  longer: string,
  longerMs: number,
  why: string,
): void {
  if (shorterMs < longerMs) return;
  throw new InvalidOptionError(
    `${shorter} (${shorterMs} ms) must be less than ${longer} (${longerMs} ms): ${why}.`,
  );
}
