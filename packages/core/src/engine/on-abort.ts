const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when `signal` aborts. The function returned cancels it.
 *
 * A signal gets one listener, however many wait for it: a worker gives one signal to hundreds of calls
 * at once, and Node warns of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const known = waiting.get(signal);
  const callbacks = known ?? new Set();
  callbacks.add(callback);
  if (!known) {
    waiting.set(signal, callbacks);
    signal.addEventListener("abort", tell);
  }
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) forget();
  };

  function tell(): void {
    forget();
    for (const told of [...callbacks]) told();
  }
  function forget(): void {
    signal.removeEventListener("abort", tell);
    if (waiting.get(signal) === callbacks) waiting.delete(signal);
  }
}
