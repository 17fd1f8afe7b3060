import type { GrantLostError } from "./errors.js";
import type { Refusal } from "./grant.js";

/** Facts about a run that had a grant. */
export interface RunFacts {
  readonly graph: string;
  readonly fence: bigint;
  /** How long in ms the grant was held. */
  readonly heldMs: number;
}

/** How a tick ended. A backend that could not be asked is not here: `tick` throws it. */
export type Outcome<T> =
  | ({ readonly status: "ran"; readonly value: T } & RunFacts)
  | { readonly status: "skipped"; readonly graph: string; readonly refusal: Refusal }
  /**
   * `during: "work"`: the work threw `error`. `during: "settle"`: it ended well, but its ending could
   * not be recorded. `settleError` is set when the work threw and the release failed too.
   */
  | ({
      readonly status: "failed";
      readonly error: unknown;
      readonly during: "work" | "settle";
      readonly settleError?: unknown;
    } & RunFacts)
  /** The grant was lost on the way. Whatever the work returned or threw was thrown away. */
  | ({
      readonly status: "lost";
      readonly error: GrantLostError;
      readonly workError?: unknown;
    } & RunFacts)
  /** Stopped on request. `workError` is what the work threw when it was told to stop. */
  | ({
      readonly status: "handed-back";
      readonly reason: string;
      readonly workError?: unknown;
    } & RunFacts)
  | ({ readonly status: "waiting"; readonly on: unknown } & RunFacts);
