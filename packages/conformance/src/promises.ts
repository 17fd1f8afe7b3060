/** A promise that somebody else settles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // It may be rejected before anybody looks.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** What was waited for did not come. */
export class TooLate extends Error {
  override readonly name = "TooLate";
}

/** Waits for `promise`, at most `ms`; `what` is what should have happened, for the message. */
export function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`not within ${ms} ms: ${what}`)), ms);
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}

/** True when `promise` settles within `ms`. */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => undefined,
    () => undefined,
  );
  try {
    await within(ms, "", settled);
    return true;
  } catch {
    return false;
  }
}

/** A pause between two tries; nothing is synchronised by it. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
