import type { Grant, Refusal } from "../../src/index.js";

export type Settled<T> =
  | { readonly state: "pending" }
  | { readonly state: "resolved"; readonly value: T }
  | { readonly state: "rejected"; readonly error: unknown };

/** Watches a promise while the test moves the clock; a rejection met on the way is not unhandled. */
export function watched<T>(promise: PromiseLike<T>): { now: Settled<T> } {
  const watch: { now: Settled<T> } = { now: { state: "pending" } };
  promise.then(
    (value) => {
      watch.now = { state: "resolved", value };
    },
    (error: unknown) => {
      watch.now = { state: "rejected", error };
    },
  );
  return watch;
}

/** The error that `promise` rejects with; fails when it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`resolved to ${String(value)} where an error was expected`);
}

export function thrownBy(action: () => void): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown where an error was expected");
}

export async function granted(answer: Promise<Grant | Refusal>): Promise<Grant> {
  const got = await answer;
  if (!got.granted) throw new Error(`refused: ${got.message}`);
  return got;
}

export async function refused(answer: Promise<Grant | Refusal>): Promise<Refusal> {
  const got = await answer;
  if (got.granted) throw new Error("granted where a refusal was expected");
  return got;
}

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
  return { promise, resolve, reject };
}

/** Never settles: a backend that accepts and does not answer. */
export function silence<T>(): Promise<T> {
  return new Promise(() => {});
}
