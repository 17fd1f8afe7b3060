import { InvalidOptionError } from "./errors.js";
import { shown } from "./words.js";

/** A window in the form that backends store and compare. */
export interface WindowIdentity {
  readonly id: string;
  /** Set when the window is a time: then an earlier window counts as run too. */
  readonly at?: Date;
}

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const maxLength = 200;

/**
 * Brings a window into one form, so that every replica and every strategy agrees on which are equal.
 * @throws {InvalidOptionError} for an invalid date, an empty or overlong string, or another type.
 */
export function windowIdentity(window: Date | string): WindowIdentity {
  if (window instanceof Date) return timed(window, "window is an invalid Date");
  if (
    typeof window !== "string" ||
    window === "" ||
    window.length > maxLength ||
    hasOddCharacters(window)
  )
    throw new InvalidOptionError(
      `window must be a Date or a string of 1 to ${maxLength} characters without control characters, not ${shown(window)}.`,
    );
  if (!iso.test(window)) return { id: window };
  const at = isRealDay(window) ? new Date(window) : new Date(Number.NaN);
  return timed(at, `window "${window}" is not a real time`);
}

/** True when `asked` is the last done window, or a time that is not after it. */
export function windowHasRun(asked: WindowIdentity, last: WindowIdentity | undefined): boolean {
  if (!last) return false;
  if (asked.id === last.id) return true;
  return asked.at !== undefined && last.at !== undefined && asked.at <= last.at;
}

/** `new Date` takes February 30 for March 2, and two windows would become one. */
function isRealDay(time: string): boolean {
  const day = time.slice(0, 10);
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}

function timed(at: Date, complaint: string): WindowIdentity {
  if (Number.isNaN(at.getTime())) throw new InvalidOptionError(`${complaint}.`);
  return { id: at.toISOString(), at };
}

function hasOddCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text) || !text.isWellFormed();
}
