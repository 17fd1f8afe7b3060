const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when `signal` aborts, at once when it has. The function returned cancels it.
 *
 * A signal gets one listener, however many wait for it: a worker gives one signal to hundreds of runs,
 * and Node warns of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const callbacks = waiting.get(signal) ?? new Set();
  callbacks.add(callback);
  waiting.set(signal, callbacks);
  // The same function twice is one listener.
  signal.addEventListener("abort", tell);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) forget(signal);
  };
}

function tell(this: AbortSignal): void {
  const told = [...(waiting.get(this) ?? [])];
  forget(this);
  for (const callback of told) callback();
}

function forget(signal: AbortSignal): void {
  signal.removeEventListener("abort", tell);
  waiting.delete(signal);
}
