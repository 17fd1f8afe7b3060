interface Listener {
  readonly callbacks: Set<() => void>;
  stop(): void;
}

const listeners = new WeakMap<AbortSignal, Listener>();

/**
 * Calls back once when `signal` aborts. The function returned cancels it.
 *
 * A signal gets one listener, however many wait for it: a worker gives one signal to hundreds of calls
 * at once, and Node warns of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const listener = listeners.get(signal) ?? listenTo(signal);
  listener.callbacks.add(callback);
  return () => {
    if (listener.callbacks.delete(callback) && listener.callbacks.size === 0) listener.stop();
  };
}

function listenTo(signal: AbortSignal): Listener {
  const listener: Listener = {
    callbacks: new Set(),
    stop() {
      signal.removeEventListener("abort", tell);
      if (listeners.get(signal) === listener) listeners.delete(signal);
    },
  };
  function tell(): void {
    listener.stop();
    for (const callback of [...listener.callbacks]) callback();
  }
  signal.addEventListener("abort", tell);
  listeners.set(signal, listener);
  return listener;
}
