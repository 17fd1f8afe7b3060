/**
 * A unit goes
 *
 *                  claim                  done
 *     queued ───────────────▶ running ───────────▶ done
 *       ▲ ▲                    │ │ └── waiting ──▶ waiting ── resume ──▶ queued
 *       │ └─ handed back, or   │ └─ its attempts are used up ──▶ dead ── retry ──▶ queued
 *       │    failed: later ────┘
 *     submit
 *
 * and from every state that is not an end to cancelled.
 */
export type UnitState = "queued" | "running" | "waiting" | "done" | "dead" | "cancelled";

/** What is asked for with `submit`. */
export interface NewUnit {
  /**
   * The caller's own identity for the work. While a unit of the graph with this key is unfinished, another
   * submit of it adds nothing and answers with the unit that is there. At most 200 characters.
   */
  readonly key?: string;
  /** Anything that JSON can hold. */
  readonly payload?: unknown;
  /** Not to be started before this time. Default: now, on the clock of the backend. */
  readonly runAt?: Date;
  /** A whole number from -100 to 100; the larger goes first within its graph. Default 0. */
  readonly priority?: number;
  /** How often it may be started before it is a dead letter. Default: the policy of its graph. */
  readonly maxAttempts?: number;
}

/** One of a batch. */
export interface NewUnitOf extends NewUnit {
  readonly graph: string;
}

/** A connection of the caller's own, in the midst of a transaction: a client of `pg` is one. */
export interface TransactionClient {
  query(statement: { readonly text: string; readonly values: unknown[] }): Promise<{
    readonly rows: unknown[];
  }>;
}

export interface SubmitOptions {
  /** Submit inside the transaction of this client: the unit is there when it commits, and only then. */
  readonly client?: TransactionClient;
  readonly signal?: AbortSignal;
}

/** The answer to a submit. */
export interface Submitted {
  readonly id: string;
  readonly graph: string;
  /** False when an unfinished unit with the same key was there already; `id` is that one's. */
  readonly isNew: boolean;
}

/** A unit as the backlog shows it. Times are those of the backend's clock. */
export interface UnitRecord {
  readonly id: string;
  readonly graph: string;
  readonly key?: string;
  readonly state: UnitState;
  readonly payload: unknown;
  readonly priority: number;
  readonly runAt: Date;
  /** Starts so far that count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly submittedAt: Date;
  /** When the run that is under way, or the last one, began. */
  readonly startedAt?: Date;
  /** When it became done, dead or cancelled. */
  readonly finishedAt?: Date;
  /** Label of the replica that runs it, or ran it last. */
  readonly holder?: string;
  /** Fence of the last claim. */
  readonly fence?: bigint;
  /** Why the last run ended without being done. Cleaned and bounded. */
  readonly reason?: string;
  readonly result?: unknown;
  /** What it waits for, in state `waiting`. */
  readonly on?: unknown;
}

export interface UnitQuery {
  readonly graph?: string;
  readonly state?: UnitState | readonly UnitState[];
  readonly key?: string;
  readonly id?: string;
  /** At most so many, 1 to 1,000. Default 100. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

/** Units in the order of their ids. */
export interface UnitPage {
  readonly units: readonly UnitRecord[];
  /** Pass it as `after` for the page that follows. Absent on the last page. */
  readonly next?: string;
}

/** The units of one graph, counted. */
export interface Backlog {
  readonly graph: string;
  /** Queued, and due now. */
  readonly due: number;
  /** Queued for later. */
  readonly scheduled: number;
  readonly running: number;
  readonly waiting: number;
  readonly dead: number;
  /** For how long in ms the oldest unit has been due. The number to alert on. Absent when none is due. */
  readonly oldestDueMs?: number;
}

/** What a command made of a unit: it tells whether anything was changed, and the state it is in now. */
export type UnitChange =
  | { readonly changed: true; readonly id: string; readonly state: UnitState }
  /** `state` is why not; absent when there is no such unit. */
  | { readonly changed: false; readonly id: string; readonly state?: UnitState };
