import type { LossReason } from "../errors.js";
import type { TermLife } from "../term-port.js";
import { said } from "../words.js";

/** What happened to a grant, as the middle of a `GrantLostError`'s message. */
export function describeLoss(
  reason: LossReason,
  sinceGoodMs: number,
  { ttlMs, safetyMarginMs }: TermLife,
  cause: unknown,
): string {
  const ms = (value: number) => Math.round(value).toLocaleString("en-US");
  const ago = `last confirmed ${ms(sinceGoodMs)} ms ago`;
  const why = cause === undefined ? "" : `: ${said(cause)}`;
  switch (reason) {
    case "replaced":
      return `the backend says it is no longer ours (${ago})${why}`;
    case "session-ended":
      return `the session that carried it is over (${ago})${why}`;
    case "closed":
      return "its coordinator was closed before the work had settled";
    default:
      return `${ago}, ttlMs ${ms(ttlMs)}, safetyMarginMs ${ms(safetyMarginMs)}${why}`;
  }
}
