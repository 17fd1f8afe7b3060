import type { Outcome } from "@sole-writer/core";
import type { Pause } from "./pause.js";

/** How a run ended. A node's own error and a lost grant are thrown. */
export type GraphRun<T> =
  /** `ran`: from the input. `resumed`: from where an earlier attempt stopped. `already-ran`: nothing was run. */
  | ({ readonly status: "ran" | "resumed" | "already-ran"; readonly value: T } & RunRemarks)
  /** The grant is settled as waiting: nothing is held until somebody calls again with `resume`. */
  | ({ readonly status: "waiting"; readonly on: Pause } & RunRemarks)
  /** The grant is settled as handed back. Every finished super-step is stored; the next call goes on. */
  | ({ readonly status: "handed-back"; readonly reason: string } & RunRemarks);

export interface RunRemarks {
  /** Set when `resume` was given and the run did not wait at what it answers. */
  readonly unusedResume?: true;
  /** Nodes that had still not finished when `settleTimeoutMs` was over. */
  readonly stillRunning?: readonly string[];
}

/** The outcome of a tick whose work was a graph. */
export type GraphOutcome<T> = RunRemarks &
  (
    | Exclude<Outcome<T>, { readonly status: "ran" | "waiting" }>
    /** `how` as the status of {@link GraphRun}: `already-ran` when an earlier tick had finished the run. */
    | (Ran<T> & { readonly how: "ran" | "resumed" | "already-ran" })
    | (Omit<Waiting, "on"> & { readonly on: Pause })
  );

type Ran<T> = Extract<Outcome<T>, { readonly status: "ran" }>;
type Waiting = Extract<Outcome<unknown>, { readonly status: "waiting" }>;
