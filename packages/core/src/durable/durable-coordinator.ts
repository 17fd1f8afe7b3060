import type { Coordinator } from "../coordinator.js";
import type { Grant } from "../grant.js";
import type {
  Backlog,
  NewUnit,
  NewUnitOf,
  SubmitOptions,
  Submitted,
  UnitChange,
  UnitPage,
  UnitQuery,
} from "./unit.js";

export interface ClaimOptions {
  /** Only units of these graphs. Default: of every graph of the application. */
  readonly graphs?: readonly string[];
  /** At most so many grants. Default 1. */
  readonly limit?: number;
  /** Gives up a claim that is under way. It ends no grant. */
  readonly signal?: AbortSignal;
  /** Longest time in ms to wait for the backend's answer. Default: the coordinator's, 5,000. */
  readonly acquireTimeoutMs?: number;
}

export interface DueOptions {
  /** Longest time in ms to wait. Default: the coordinator's `pollMs`. */
  readonly atMostMs?: number;
  readonly signal?: AbortSignal;
}

/** Why `whenDue` came back. */
export type DueAnswer =
  /** Somebody said that there is new work. */
  | "woken"
  /** The time was over. It is worth to claim all the same: a word may have been lost. */
  | "poll"
  /** The signal aborted, or the coordinator is closing. */
  | "stopped";

/**
 * A coordinator whose work is in units that are stored: none is lost, and those that wait can be seen.
 *
 * Every method throws a `BackendError` when the backend could not be asked, `InvalidOptionError` or
 * `InvalidNameError` before it is asked for what makes no sense, and `CoordinatorClosedError` after `close`.
 */
export interface DurableCoordinator extends Coordinator {
  /** Stores a unit of `graph`. When it resolves, the unit is safe: whatever dies then, it comes to an end. */
  submit(graph: string, unit: NewUnit, options?: SubmitOptions): Promise<Submitted>;
  /** Stores many, all of them or none, in one statement. One answer for each, in order. */
  submitMany(units: readonly NewUnitOf[], options?: SubmitOptions): Promise<readonly Submitted[]>;
  /**
   * Grants for units that are due, each with its `unit`, asked for at once: no graph twice where a graph
   * has one writer. Answers at once; an empty list means that nothing is due or all of it is taken.
   */
  claim(options?: ClaimOptions): Promise<readonly Grant[]>;
  /** Waits until it is worth to claim again. Never rejects, and never comes back in a hot loop. */
  whenDue(options?: DueOptions): Promise<DueAnswer>;
  /** The units that a query picks, page by page. */
  units(query?: UnitQuery): Promise<UnitPage>;
  /** The unfinished units and the dead letters of each graph, counted. */
  backlog(graph?: string): Promise<readonly Backlog[]>;
  /** Queues a dead or cancelled unit again, with all its attempts. */
  retry(id: string): Promise<UnitChange>;
  /** Ends a unit that is unfinished. A run under way is told within a heartbeat that its grant is lost. */
  cancel(id: string, reason?: string): Promise<UnitChange>;
  /** Removes a finished unit: done, dead or cancelled. */
  discard(id: string): Promise<UnitChange>;
  /** Queues a unit that waits, with the answer it waited for. Of several resumes exactly one changes it. */
  resume(id: string, value: unknown): Promise<UnitChange>;
}
