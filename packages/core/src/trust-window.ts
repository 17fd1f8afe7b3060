import type { Clock } from "./clock.js";

/**
 * For how long a holder may believe what the backend last told it:
 *
 *     trustedUntil = attemptStarted + ttlMs - safetyMarginMs
 *
 * It is counted from when the last good request was *sent*: the backend cannot have started its own
 * count earlier, so the holder stops believing before the backend lets go, however slow the reply was.
 */
export interface TrustWindow {
  /** A good answer arrived to a request sent at `attemptStarted` (a reading of the clock, in ms). */
  extend(attemptStarted: number): void;
  /** Milliseconds left; zero or less when the window is over. */
  leftMs(): number;
  /** Milliseconds since the last good request was sent. */
  sinceGoodMs(): number;
}

/** Opens a trust window for a grant whose request was sent at `attemptStarted`. */
export function trustWindow(
  clock: Clock,
  life: { readonly ttlMs: number; readonly safetyMarginMs: number },
  attemptStarted: number,
): TrustWindow {
  let good = attemptStarted;
  return {
    extend(sentAt) {
      good = Math.max(good, sentAt);
    },
    leftMs: () => good + life.ttlMs - life.safetyMarginMs - clock.now(),
    sinceGoodMs: () => clock.now() - good,
  };
}
