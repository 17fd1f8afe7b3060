/** What a scene waits for did not happen in time. */
export class SceneTimeoutError extends Error {
  override readonly name = "SceneTimeoutError";
}

/** Far more than anything takes on a busy machine; only a promise that is broken waits for so long. */
const patienceMs = 15_000;

/**
 * Waits for `promise`, but not for ever.
 * @param what what is awaited, as the end of "waited … for"
 * @throws {SceneTimeoutError} after `patienceMs`
 * @throws the reason of `signal` when that aborts first
 */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  let giveUp: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    timer = setTimeout(
      () => reject(new SceneTimeoutError(`waited ${patienceMs} ms for ${what}`)),
      patienceMs,
    );
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    clearTimeout(timer);
    if (giveUp) signal.removeEventListener("abort", giveUp);
  }
}
