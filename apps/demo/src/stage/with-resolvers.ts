/** A promise and the function that resolves it. */
export interface Resolvable<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** `Promise.withResolvers` begins with Node 22. */
export function withResolvers<T>(): Resolvable<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
