import type { Clock } from "../clock.js";
import { onAbort } from "./on-abort.js";

/** The wait ended before the operation did. */
export class LimitReached extends Error {
  readonly why: "timeout" | "aborted";
  constructor(why: "timeout" | "aborted") {
    super(why === "timeout" ? "no answer in time" : "given up");
    this.why = why;
  }
}

export interface Limits {
  readonly timeoutMs: number;
  /** Any of these ends the wait early. */
  readonly signals?: readonly (AbortSignal | undefined)[];
}

/**
 * Waits for `operation`, at most as long as the limits allow. The operation gets a signal that aborts
 * when the wait ends early; what it still does then is handed to `onStraggler`, so that nothing it
 * brings home late is forgotten.
 */
export function limited<T>(
  clock: Clock,
  limits: Limits,
  operation: (signal: AbortSignal) => Promise<T>,
  onStraggler?: (straggler: Promise<T>) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = new AbortController();
    const signals = (limits.signals ?? []).filter((signal) => signal !== undefined);
    const running = operation(abort.signal);
    const stopTimer = clock.after(limits.timeoutMs, () => giveUp("timeout"));
    const stopListening = signals.map((signal) => onAbort(signal, () => giveUp("aborted")));

    let open = true;
    function end(): boolean {
      if (!open) return false;
      open = false;
      stopTimer();
      for (const stop of stopListening) stop();
      return true;
    }
    function giveUp(why: "timeout" | "aborted"): void {
      if (!end()) return;
      const reached = new LimitReached(why);
      abort.abort(reached);
      if (onStraggler) onStraggler(running);
      else running.catch(() => undefined);
      reject(reached);
    }
    running.then(
      (value) => end() && resolve(value),
      (error) => end() && reject(error),
    );
    if (signals.some((signal) => signal.aborted)) giveUp("aborted");
  });
}
