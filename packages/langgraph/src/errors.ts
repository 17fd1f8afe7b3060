import { SoleWriterError } from "@sole-writer/core";

/** A checkpoint was about to be written, or a thread deleted, outside of any grant. Nothing was written. */
export class UnfencedWriteError extends SoleWriterError {
  override readonly name = "UnfencedWriteError";
  readonly code = "UNFENCED_WRITE";

  constructor(method: string, threadId: string | undefined) {
    const where = threadId === undefined ? "" : ` on thread "${threadId}"`;
    super(
      `Refused ${method}${where}: it was called outside of a grant, and the saver is fenced. Run the graph with runGraph, or call it inside withGrant(grant, …).`,
    );
  }
}

/**
 * PostgreSQL refused a write because a newer grant has entered the thread, or because this one has not.
 * Nothing of the transaction was stored. The grant itself is not lost as far as its coordinator knows;
 * when it is, the error is a `GrantLostError` instead.
 */
export class StaleWriteError extends SoleWriterError {
  override readonly name = "StaleWriteError";
  readonly code = "STALE_WRITE";
  readonly graph: string;
  readonly threadId: string;
  readonly fence: bigint;

  constructor(
    facts: { graph: string; threadId: string; fence: bigint; detail: string },
    options?: ErrorOptions,
  ) {
    const { graph, threadId, fence, detail } = facts;
    super(
      `The run of "${graph}" (fence ${fence}) may not write thread "${threadId}": ${detail}. Stop this run; the next one reads the thread anew.`,
      options,
    );
    this.graph = graph;
    this.threadId = threadId;
    this.fence = fence;
  }
}
