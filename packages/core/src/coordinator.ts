import type { Grant, Holder, Refusal } from "./grant.js";

/** Hands out the right to write a graph, to one holder at a time. */
export interface Coordinator extends AsyncDisposable {
  readonly strategy: "skip-lock" | "durable-claim" | "external-lease" | (string & {});
  readonly backend: "postgres" | "redis" | "etcd" | (string & {});
  /** What this strategy promises, as facts that the shared suite holds it to. */
  readonly guarantees: Guarantees;
  /** This coordinator's own identity, as others will see it. */
  readonly holder: Holder;
  /**
   * Asks once to be the writer of `graph`. Answers at once and never queues behind a holder.
   * @throws {InvalidNameError} before any backend is touched.
   * @throws {InvalidOptionError} before any backend is touched.
   * @throws {BackendError} when the backend could not be asked. Never a refusal, never a grant.
   * @throws {AcquireAbortedError} when `options.signal` aborted first. Nothing is left behind.
   * @throws {CoordinatorClosedError} after `close`.
   */
  acquire(graph: string, options?: AcquireOptions): Promise<Grant | Refusal>;
  /**
   * Who holds what, since when, with which fence.
   * @throws {BackendError} when the backend could not be asked.
   */
  inspect(graph?: string): Promise<readonly GraphStatus[]>;
  /**
   * Proves that this backend really excludes, here and now, with two sessions of its own.
   * Answers with what is wrong; an empty list means nothing was found.
   */
  preflight(): Promise<readonly Finding[]>;
  /**
   * Asks running work to stop (`grant.draining`), waits for it to settle, then lets go of every
   * connection and timer. Grants not settled within `graceMs` are lost. Safe to call twice; a later
   * call may shorten the grace, and never lengthens it.
   */
  close(options?: CloseOptions): Promise<void>;
}

export interface AcquireOptions {
  /**
   * The planned time of a scheduled tick, the same on every replica. A window that was settled as
   * done, or an earlier one, is refused with `already-ran`. A string that is not an ISO 8601 time is
   * compared for equality alone.
   */
  readonly window?: Date | string;
  /** Refuse with `already-ran` when the last done run ended less than this many ms ago. */
  readonly minIntervalMs?: number;
  /** Gives up an acquire that is under way. It does not end a grant. */
  readonly signal?: AbortSignal;
  /** Longest time in ms to wait for the backend's answer. Default: the coordinator's, 5,000. */
  readonly acquireTimeoutMs?: number;
}

export interface CloseOptions {
  /** How long in ms running work may take to settle. Default 10,000. */
  readonly graceMs?: number;
}

/** Facts about a strategy. The shared suite picks its assertions by them, so a false one turns it red. */
export interface Guarantees {
  /** Unfinished work is taken up again after a crash without anybody asking for it. */
  readonly survivesCrash: boolean;
  /** Work that waits can be seen and counted. */
  readonly backlog: boolean;
  /** What becomes of a holder whose process is frozen while its host lives. */
  readonly frozenHolder: "keeps-grant" | "is-replaced";
  /** Longest time in ms until another replica can be granted after the holder is gone. */
  readonly handover: {
    /** The process was killed; its host told the backend. */
    readonly processKilledMs: number;
    /** The host vanished; nobody told the backend. */
    readonly hostVanishedMs: number;
  };
  /** Longest time in ms from the last good word of the backend until a holder is told of a loss. */
  readonly lossToldWithinMs: number;
  /** Who is kept apart: everybody who can reach the backend, or this process alone. */
  readonly scope: "backend" | "process";
}

/** What `inspect` says about one graph. */
export interface GraphStatus {
  readonly graph: string;
  readonly state: "held" | "free";
  readonly holder?: Holder;
  /** How long in ms it has been held, on the clock of the backend. */
  readonly heldForMs?: number;
  /** The highest fence ever granted, held or not. */
  readonly fence?: bigint;
  /** Identity of the last window that was settled as done. */
  readonly lastWindow?: string;
  /** When a run was last settled as done, on the clock of the backend. */
  readonly lastDoneAt?: Date;
}

/** Something `preflight` found to be wrong. */
export interface Finding {
  /** Stable, in kebab case: `pooler-in-the-way`. */
  readonly code: string;
  /** `error`: exclusion is not to be had like this. `warning`: it is, with the loss described. */
  readonly severity: "error" | "warning";
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}
