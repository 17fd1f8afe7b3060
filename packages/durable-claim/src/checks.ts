import { inspect } from "node:util";
import { InvalidOptionError } from "@sole-writer/core";

/** @throws {InvalidOptionError} for a name that nobody knows */
export function assertKnown(of: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new InvalidOptionError(`${of} has no option ${unknown}; it has ${known.join(", ")}.`);
}

/** @throws {InvalidOptionError} unless `value` is a whole number within the bounds */
export function assertWhole(
  option: string,
  value: unknown,
  least: number,
  most: number,
): asserts value is number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most)
    return;
  throw new InvalidOptionError(
    `${option} must be a whole number from ${least} to ${most}, not ${shown(value)}.`,
  );
}

/** @throws {InvalidOptionError} unless `value` is one of those allowed */
export function assertOneOf(option: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const list = allowed.map((one) => JSON.stringify(one)).join(" or ");
  throw new InvalidOptionError(`${option} must be ${list}, not ${shown(value)}.`);
}

/** @throws {InvalidOptionError} unless `value` is a date */
export function assertDate(option: string, value: unknown): void {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  throw new InvalidOptionError(`${option} must be a valid Date, not ${shown(value)}.`);
}

/** @throws {InvalidOptionError} unless `value` is an id of a unit */
export function assertUnitId(value: unknown): asserts value is string {
  if (typeof value === "string" && /^[1-9]\d{0,17}$/.test(value)) return;
  throw new InvalidOptionError(
    `The id of a unit is a string of digits, as submit answers it, not ${shown(value)}.`,
  );
}

function shown(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY }).slice(0, 80);
}
