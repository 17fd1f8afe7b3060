/** How long in ms a statement that nobody waits for may still take before its connection is given up. */
const lastWordMs = 250;

/**
 * A signal for a statement that serves several callers: it aborts a moment after the last of them has gone.
 * Most statements are answered in that moment, and a connection that lives is worth more than the moment.
 */
export function sharedSignal(signals: readonly AbortSignal[]): {
  readonly signal: AbortSignal;
  release(): void;
} {
  const shared = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    if (timer !== undefined || !signals.every((signal) => signal.aborted)) return;
    timer = setTimeout(() => shared.abort(new Error("given up")), lastWordMs);
  };
  for (const signal of signals) signal.addEventListener("abort", look);
  look();
  return {
    signal: shared.signal,
    release() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", look);
    },
  };
}
