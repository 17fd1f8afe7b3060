import type { GrantLostError } from "./errors.js";

/** Who holds a graph, as far as the backend can tell. */
export interface Holder {
  /** Random for each coordinator instance; never made from host or pid, which containers reuse. */
  readonly id: string;
  /** For people: `host:pid` unless the coordinator was given a label. */
  readonly label: string;
  /** When the grant was given, on the clock of the backend. Absent when it cannot be known. */
  readonly since?: Date;
  /** Fencing token of the grant. Absent when it cannot be known. */
  readonly fence?: bigint;
}

/** One durable piece of work. Only strategies whose `guarantees.backlog` is true hand these out. */
export interface Unit {
  readonly id: string;
  /** The caller's own identity for the work, unique while the unit is unfinished. */
  readonly key?: string;
  readonly payload: unknown;
  /** How often the unit has been started, this start included: 1 on the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The answer that it was resumed with, when it waited for one before this run. */
  readonly resumed?: { readonly value: unknown };
}

/** How the work under a grant ended. */
export type Ending =
  /** The work is finished. The window of the acquire, if any, counts as run. */
  | { readonly kind: "done"; readonly result?: unknown }
  /** The work threw. `retryAt` is a wish, kept by strategies that have a backlog. */
  | { readonly kind: "failed"; readonly error: unknown; readonly retryAt?: Date }
  /** Stopped on request, nothing wrong: the next holder goes on. Costs no attempt. */
  | { readonly kind: "handed-back"; readonly reason: string }
  /** Parked until a person or an event answers. Nothing is held meanwhile. */
  | { readonly kind: "waiting"; readonly on: unknown };

/**
 * The proof that this holder may write `graph` now.
 *
 * It ends by `settle`, or by loss: then `signal` aborts with a {@link GrantLostError}, once.
 */
export interface Grant extends AsyncDisposable {
  readonly granted: true;
  readonly graph: string;
  readonly holder: Holder;
  /** Fencing token: larger than that of every earlier grant of this graph. Never pass it through a number. */
  readonly fence: bigint;
  readonly unit?: Unit;
  /** Aborts, with a {@link GrantLostError} as its reason, as soon as the grant is no longer certain. */
  readonly signal: AbortSignal;
  /** Aborts when the coordinator is closing: finish the current step, then settle. The grant is still held. */
  readonly draining: AbortSignal;
  /** The ending that counted, once `settle` was called. */
  readonly ending: Ending | undefined;
  /**
   * Returns while the grant is certain by the local clock alone.
   * A "no" is final: the grant counts as lost from then on.
   * @throws {GrantLostError} when it is lost, settled, or not certain any more.
   */
  assertHeld(): void;
  /**
   * Asks the backend, and so tells a grant that outlived a stalled event loop from one that did not.
   * @throws {GrantLostError} when it is lost.
   * @throws {BackendError} when the backend could not be asked; the grant is not lost by that alone.
   */
  confirmHeld(): Promise<void>;
  /**
   * Ends the grant and releases it. Call it after the work has settled, not when it was told to stop.
   * The first ending counts; later calls change nothing and answer as the first did.
   * @throws {GrantLostError} when the grant was lost before: the ending was not recorded.
   * @throws {BackendError} when the backend could not be told. What is held ends by itself then.
   */
  settle(ending: Ending): Promise<void>;
}

/** The ordinary "no". A value, never an error. */
export interface Refusal {
  readonly granted: false;
  readonly graph: string;
  readonly reason: "held" | "already-ran" | "nothing-due";
  /** Who holds it. Absent when that cannot be known; it never names the wrong one. */
  readonly holder?: Holder;
  /** The graph that is really held, when two names share one lock key (skip-lock only). */
  readonly keySharedWith?: string;
  /** One sentence for a log line: what was refused, and because of whom. */
  readonly message: string;
}
