/** The messages of one process, in order, until somebody takes them. */
export interface Inbox {
  put(message: unknown): void;
  /** No more will come; `why` goes on as "<process> ended with …". */
  close(why: string): void;
  listen(listener: (message: unknown) => void): () => void;
  next<M>(predicate: (message: M) => boolean, withinMs?: number): Promise<M>;
  messages(): AsyncIterable<unknown>;
}

interface Waiting {
  fits(message: unknown): boolean;
  take(message: unknown): void;
  fail(error: Error): void;
}

/** Messages that nobody takes are kept up to this many; a chatty process must not fill the memory. */
const keptMessages = 10_000;
const defaultWithinMs = 30_000;

export function openInbox(describe: () => string): Inbox {
  const kept: unknown[] = [];
  const listeners = new Set<(message: unknown) => void>();
  const waiting = new Set<Waiting>();
  let closed: string | undefined;

  function put(message: unknown): void {
    const taker = [...waiting].find((one) => one.fits(message));
    if (taker === undefined) kept.push(message);
    if (kept.length > keptMessages) kept.shift();
    taker?.take(message);
    for (const listener of [...listeners]) listener(message);
  }

  function close(why: string): void {
    closed = why;
    for (const one of [...waiting]) one.fail(ended());
  }

  const ended = () => new Error(`The process ${closed} before the message came: ${describe()}`);

  function listen(listener: (message: unknown) => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  function next<M>(predicate: (message: M) => boolean, withinMs = defaultWithinMs): Promise<M> {
    // What a process sends is known to the caller alone.
    const fits = (message: unknown) => predicate(message as M);
    const at = kept.findIndex(fits);
    if (at >= 0) return Promise.resolve(kept.splice(at, 1)[0] as M);
    if (closed !== undefined) return Promise.reject(ended());
    return new Promise<M>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(one);
        reject(new Error(`No such message within ${withinMs} ms from ${describe()}`));
      }, withinMs);
      const one: Waiting = {
        fits,
        take: (message) => leave(() => resolve(message as M)),
        fail: (error) => leave(() => reject(error)),
      };
      function leave(then: () => void): void {
        clearTimeout(timer);
        waiting.delete(one);
        then();
      }
      waiting.add(one);
    });
  }

  async function* messages(): AsyncIterable<unknown> {
    while (closed === undefined || kept.length > 0) {
      if (kept.length > 0) yield kept.shift();
      else {
        const message = await new Promise<{ message: unknown } | undefined>((resolve) => {
          const one: Waiting = {
            fits: () => true,
            take: (taken) => leave({ message: taken }),
            fail: () => leave(undefined),
          };
          function leave(result: { message: unknown } | undefined): void {
            waiting.delete(one);
            resolve(result);
          }
          waiting.add(one);
        });
        if (message === undefined) return;
        yield message.message;
      }
    }
  }

  return { put, close, listen, next, messages };
}
