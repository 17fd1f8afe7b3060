import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { AcquireOptions } from "@sole-writer/core";
import type { Durability } from "./graph.js";
import type { Answer } from "./pause.js";
import type { RunObserver } from "./run-events.js";

export interface RunOptions<Input> {
  /**
   * Given to the graph when this run has not begun yet, and never a second time. Pass the same on every
   * attempt.
   */
  readonly input: Input;
  /** The LangGraph thread. Needed when the graph has a checkpointer. */
  readonly threadId?: string;
  /**
   * Tells this run from others on the same thread: a turn of a conversation, a unit, a window. A thread
   * whose newest checkpoint is another run's is started with our input; one that is ours is resumed, or
   * recognised as finished. Default: the id of the grant's unit; else the window, where `runGraph` itself
   * acquires; else the thread is the run.
   */
  readonly runId?: string;
  /** The answer to the pause that the run waits at. A run that waits and has no answer stays as it is. */
  readonly resume?: Answer;
  /** Goes to LangGraph as it is. The signal, the drain and the thread are this package's to set. */
  readonly config?: Omit<LangGraphRunnableConfig, "signal" | "control">;
  /** Asks the run to stop after the super-step at hand, and to hand the work back. It aborts nothing. */
  readonly signal?: AbortSignal;
  /** Default `"sync"`: no super-step begins before the checkpoint of the one before is stored. */
  readonly durability?: Durability;
  /**
   * How long in ms to wait for nodes that are still running when the run is over. Default: for ever.
   * After that the grant is released all the same, and the result, the error or the event says which
   * nodes were still running.
   */
  readonly settleTimeoutMs?: number;
  readonly onEvent?: RunObserver;
}

/** `signal` gives up an acquire under way, and asks a run to stop. */
export type TickGraphOptions<Input> = RunOptions<Input> & AcquireOptions;
