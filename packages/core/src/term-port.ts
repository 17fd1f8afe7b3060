/**
 * The second tier: what a strategy implements.
 *
 * Users see a `Coordinator`. A strategy offers a few term-scoped methods, each one round trip, safe to
 * repeat, and throwing for faults alone; `coordinatorOver` turns them into a `Coordinator`. The trust
 * window, renewal, loss, the in-process guard, drain and events are written there, once.
 *
 *                take                       renew: held
 *     (free) ────────────▶ held ◀──────────────────────────┐
 *                           │ └────────────────────────────┘
 *          settle           │            renew: gone, ended(), or the trust window is over
 *     (free) ◀──────────────┴──────────▶ lost ── abandon ──▶ (free)
 */
import type { Finding, GraphStatus, Guarantees } from "./coordinator.js";
import type { Ending, Holder, Refusal, Unit } from "./grant.js";
import type { WindowIdentity } from "./window.js";

/** A grant as its strategy knows it: one holder, one fence. */
export interface Term {
  readonly graph: string;
  readonly fence: bigint;
  /** Server time of the grant. */
  readonly since: Date;
  readonly unit?: Unit;
  /** The life the backend really gave, in ms, where it differs from the one asked for. */
  readonly ttlMs?: number;
}

/** How a term stays alive. */
export interface TermLife {
  /**
   * `lease`: the backend ends it at a deadline whatever the holder does, so an over-long stall is a loss.
   * `session`: it lives as long as the session that carries it. A silent backend is a loss when the
   * window is over; after a stall of this process the backend is asked once more, for `renewTimeoutMs`.
   */
  readonly kind: "lease" | "session";
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  readonly renewEveryMs: number;
  /** Longest time in ms to wait for the answer to one renewal. */
  readonly renewTimeoutMs: number;
}

export interface TakeRequest {
  readonly graph: string;
  readonly window?: WindowIdentity;
  readonly minIntervalMs?: number;
  /**
   * Aborts when nobody waits for the answer any more: stop, and leave nothing behind. The take must
   * end soon after, well or badly: until then this process asks for the graph no more, because it
   * could meet its own half-finished take as a rival.
   */
  readonly signal: AbortSignal;
  /** Longest time in ms that the caller waits. */
  readonly timeoutMs: number;
  /** Call it just before the request that may create the term is sent. */
  sending(): void;
  /** Call it when the backend tells, unasked, that the term is over. */
  ended(cause: unknown): void;
}

export type TakeAnswer<T extends Term> =
  | { readonly taken: true; readonly term: T }
  | {
      readonly taken: false;
      readonly reason: Refusal["reason"];
      readonly holder?: Holder;
      readonly keySharedWith?: string;
    };

export type Renewal =
  | { readonly state: "held" }
  /** The backend says, or the end of the session proves, that the term is over. */
  | { readonly state: "gone"; readonly cause: unknown }
  /** The backend did not say. The trust window decides. */
  | { readonly state: "unknown"; readonly cause: unknown };

export interface TermPort<T extends Term = Term> {
  readonly strategy: string;
  readonly backend: string;
  readonly guarantees: Guarantees;
  readonly life: TermLife;
  /** Asks once, without queueing. Throws a `BackendError` when the backend could not be asked. */
  take(request: TakeRequest): Promise<TakeAnswer<T>>;
  /** Confirms all of this process's terms together; one answer for each, in order. Never creates one. */
  renew(terms: readonly T[], signal: AbortSignal): Promise<readonly Renewal[]>;
  /** Records the ending and releases, if the term is still this one; `gone` changes nothing. */
  settle(
    term: T,
    ending: Ending,
    window: WindowIdentity | undefined,
    signal: AbortSignal,
  ): Promise<"settled" | "gone">;
  /**
   * Lets go of a term that was lost, or whose settling failed, without waiting and without throwing.
   * Called once for a term. After a grace period that ran out its work may still be running.
   */
  abandon(term: T): void;
  read(graph: string | undefined, signal: AbortSignal): Promise<readonly GraphStatus[]>;
  prove(): Promise<readonly Finding[]>;
  /** Lets go of everything this port opened. It may be cut off after `releaseTimeoutMs`; does not throw. */
  close(): Promise<void>;
}

/** What a claim asks for: units that are due, of any graph or of some. */
export interface ClaimRequest {
  readonly graphs?: readonly string[];
  /** Graphs whose last run in this process is lost and has not settled: not these. */
  readonly except: readonly string[];
  readonly limit: number;
  /** Aborts when nobody waits for the answer any more; as in `TakeRequest`. */
  readonly signal: AbortSignal;
  /** Longest time in ms that the caller waits. */
  readonly timeoutMs: number;
  /** Call it just before the request that may create terms is sent. */
  sending(): void;
}

/** The port of a strategy that keeps units. */
export interface ClaimPort<T extends Term = Term> extends TermPort<T> {
  /** What has one writer at a time. */
  readonly exclusive: "graph" | "unit";
  /** Takes units that are due, without queueing; an empty list when there are none. */
  claim(request: ClaimRequest): Promise<readonly T[]>;
}
