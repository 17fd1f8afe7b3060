/** A law was broken: what should have been, and what was seen. */
export class LawBroken extends Error {
  override readonly name = "LawBroken";
}

/** A case could not be run, because the factory lacks a hook. */
export class NotRun extends Error {
  override readonly name = "NotRun";
  /** The hook, as a path from the factory: `faults.takeAway`. */
  readonly wants: string;

  constructor(wants: string) {
    super(`not run: it wants "${wants}" of the factory`);
    this.wants = wants;
  }
}

/** @throws {LawBroken} with `message` unless `condition` holds. */
export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new LawBroken(message);
}

/** Anything that crossed, in one line for a message. */
export function inWords(value: unknown): string {
  return JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? String(part) : part));
}
