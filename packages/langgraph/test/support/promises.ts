/** A promise that a test resolves. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** A node body that stands still: `reached` says that it began, `release` lets it go on. */
export function stop() {
  const reached = deferred();
  const released = deferred();
  return {
    reached: reached.promise,
    release: released.resolve,
    async here(): Promise<void> {
      reached.resolve();
      await released.promise;
    },
  };
}

/** Lets every promise callback and every immediate that is due run, several times over. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What became of a promise so far. */
export function watched<T>(promise: Promise<T>) {
  const seen: { now: "pending" | "resolved" | "rejected"; value?: T; error?: unknown } = {
    now: "pending",
  };
  promise.then(
    (value) => Object.assign(seen, { now: "resolved", value }),
    (error: unknown) => Object.assign(seen, { now: "rejected", error }),
  );
  return seen;
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}
