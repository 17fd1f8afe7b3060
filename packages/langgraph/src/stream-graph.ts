import type { Coordinator, Grant } from "@sole-writer/core";
import { chunkQueue } from "./chunk-queue.js";
import type { InputOf, StreamableGraph, ValueOf } from "./graph.js";
import { tickGraph } from "./run-graph.js";
import type { RunOptions, TickGraphOptions } from "./run-options.js";
import type { GraphOutcome, GraphRun } from "./run-result.js";
import { runUnderGrant } from "./run-under-grant.js";
import type { StreamShape } from "./stream-shape.js";

/**
 * The chunks of one run, and how it ended.
 *
 * The grant lives as long as the work, not as long as the reader: a slow reader keeps nothing back, the
 * run goes on and its chunks wait. A reader that stops early (`break`, a throw, `return()`, `await using`)
 * cancels the run: its nodes are aborted, what they started is waited for, and the grant is released
 * before the loop is left. Nothing begins before the first chunk is asked for, so a stream that nobody
 * reads holds nothing.
 */
export interface GraphStream<Chunk, Result> extends AsyncIterableIterator<Chunk>, AsyncDisposable {
  return(): Promise<IteratorResult<Chunk>>;
  /** How the run ended. Begins it if need be; chunks that were not read do not hold it up. */
  outcome(): Promise<Result>;
}

/**
 * As `runGraph`, chunk by chunk. The reading throws what `runGraph` would throw, after the last chunk.
 * @throws {InvalidOptionError} from `outcome` and the reading, as `runGraph` does.
 */
export function streamGraph<G extends StreamableGraph, Chunk = unknown>(
  grant: Grant,
  graph: G,
  options: RunOptions<InputOf<G>> & StreamShape,
): GraphStream<Chunk, GraphRun<ValueOf<G>>>;
/**
 * As one tick: acquires `name` when the first chunk is asked for, runs, settles. `outcome` answers as
 * `runGraph` does. The reading throws the node's own error or the `GrantLostError`, so that a loop that
 * ends has seen everything; a refusal ends it without a chunk.
 */
export function streamGraph<G extends StreamableGraph, Chunk = unknown>(
  coordinator: Coordinator,
  name: string,
  graph: G,
  options: TickGraphOptions<InputOf<G>> & StreamShape,
): GraphStream<Chunk, GraphOutcome<ValueOf<G>>>;
export function streamGraph(
  ...args:
    | [Grant, StreamableGraph, RunOptions<unknown> & StreamShape]
    | [Coordinator, string, StreamableGraph, TickGraphOptions<unknown> & StreamShape]
): GraphStream<unknown, GraphRun<unknown> | GraphOutcome<unknown>> {
  const queue = chunkQueue<unknown>();
  const cancel = new AbortController();
  const reader = { push: queue.push, cancelled: cancel.signal };
  let run: Promise<GraphRun<unknown> | GraphOutcome<unknown>> | undefined;

  async function begin(): Promise<GraphRun<unknown> | GraphOutcome<unknown>> {
    try {
      const result =
        args.length === 3
          ? await runUnderGrant(args[0], args[1], args[2], reader)
          : await tickGraph(args[0], args[1], args[2], args[3], reader);
      queue.end(errorIn(result));
      return result;
    } catch (error) {
      queue.end({ error });
      throw error;
    }
  }

  function started(): Promise<GraphRun<unknown> | GraphOutcome<unknown>> {
    if (!run) {
      run = begin();
      // Who reads hears of it from the reading.
      run.catch(() => undefined);
    }
    return run;
  }

  async function stop(): Promise<IteratorResult<unknown>> {
    queue.close();
    cancel.abort();
    await run?.catch(() => undefined);
    return { done: true, value: undefined };
  }

  const stream: GraphStream<unknown, GraphRun<unknown> | GraphOutcome<unknown>> = {
    [Symbol.asyncIterator]: () => stream,
    async next() {
      if (!cancel.signal.aborted) started();
      return await queue.next();
    },
    return: stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
    outcome: started,
  };
  return stream;
}

function errorIn(
  result: GraphRun<unknown> | GraphOutcome<unknown>,
): { readonly error: unknown } | undefined {
  return result.status === "failed" || result.status === "lost"
    ? { error: result.error }
    : undefined;
}
