import {
  type BaseCheckpointSaver,
  isGraphDrained,
  type LangGraphRunnableConfig,
  RunControl,
} from "@langchain/langgraph";
import type { Grant } from "@sole-writer/core";
import { grantConfigurable, within } from "./current-grant.js";
import {
  type CompiledGraph,
  type Durability,
  invoke,
  type StreamableGraph,
  stream,
} from "./graph.js";
import { onAbort } from "./on-abort.js";
import { runLoss } from "./run-loss.js";
import type { RunOptions } from "./run-options.js";
import { lentSaverKey, runSaver } from "./run-saver.js";
import { type Leftovers, type RunScope, runScope } from "./run-scope.js";
import type { StreamShape } from "./stream-shape.js";

/** Everything that one call of `runGraph` is about. */
export interface Run {
  readonly grant: Grant;
  readonly graph: CompiledGraph;
  readonly saver: BaseCheckpointSaver | undefined;
  readonly runId: string | undefined;
  readonly options: RunOptions<unknown> & StreamShape;
  /** Who reads the run chunk by chunk, if anybody does. */
  readonly reader: Reader | undefined;
}

/** A run that is read as it goes. Without a value: what it returned is read from the thread. */
export interface Reader {
  push(chunk: unknown): void;
  /** Aborts when nobody reads any more. */
  readonly cancelled: AbortSignal;
}

export type Attempt = (
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "drained"; readonly reason: string }
  | { readonly kind: "threw"; readonly error: unknown }
) & { readonly leftovers: Leftovers };

/**
 * Invokes the graph once, and comes back when everything that it started has ended.
 *
 * Three verbs, never mixed. *Abort*: the grant is lost; the gate closes before any node hears of it.
 * *Drain*: somebody wants us to stop; the super-step at hand is finished and stored. *Settle*: after
 * `invoke` is over, whichever way, the gate is closed and what is under way is waited for.
 * @throws {GrantLostError} when the grant was lost on the way, whatever the graph returned or threw.
 */
export async function attempt(
  run: Run,
  input: unknown,
  onLeft: (leftovers: Leftovers) => void,
): Promise<Attempt> {
  const { grant, options } = run;
  const scope = runScope(grant);
  const control = new RunControl();
  // A signal of this run's own: LangGraph leaves listeners on the one it is given.
  const abort = new AbortController();
  const stopListening = [
    onAbort(grant.signal, () => {
      scope.close(grant.signal.reason);
      if (!hasCache(run)) abort.abort(grant.signal.reason);
    }),
    onAbort(run.reader?.cancelled, () => {
      scope.close(
        new Error(`The run of "${grant.graph}" was cancelled: nobody reads it any more.`),
      );
      control.requestDrain(readersStop);
      if (!hasCache(run)) abort.abort();
    }),
    onAbort(options.signal, () => control.requestDrain(callersStop)),
    onAbort(grant.draining, () => control.requestDrain(closingStop)),
  ];
  const config = { ...configOf(run, scope), signal: abort.signal, control };
  let end: { kind: "returned"; value: unknown } | { kind: "threw"; error: unknown };
  try {
    grant.assertHeld();
    end = { kind: "returned", value: await within({ scope }, () => drive(run, input, config)) };
  } catch (error) {
    end = { kind: "threw", error };
  }
  scope.close(new Error(`The run of "${grant.graph}" is over; nothing of it may start any more.`));
  const leftovers = await scope.quiet(options.settleTimeoutMs);
  for (const stop of stopListening) stop();
  if (leftovers.discarded.length + leftovers.stillRunning.length > 0) onLeft(leftovers);
  if (isLost(grant)) throw runLoss(grant, leftovers);
  if (end.kind === "threw" && end.error instanceof Error && isGraphDrained(end.error))
    return { kind: "drained", reason: control.drainReason ?? callersStop, leftovers };
  if (end.kind === "threw" && run.reader?.cancelled.aborted)
    return { kind: "drained", reason: readersStop, leftovers };
  return { ...end, leftovers };
}

export const callersStop = "stopped by its caller";
export const readersStop = "stopped because nobody reads it any more";
export const closingStop = "stopped because its coordinator is closing";

async function drive(
  { graph, reader, options }: Run,
  input: unknown,
  config: Parameters<typeof invoke>[2],
): Promise<unknown> {
  if (!reader) return await invoke(graph, input, config);
  const { streamMode, subgraphs } = options;
  const shape = { ...(streamMode && { streamMode }), ...(subgraphs && { subgraphs }) };
  const chunks = await stream(graph as StreamableGraph, input, { ...config, ...shape });
  for await (const chunk of chunks) reader.push(chunk);
  return undefined;
}

/**
 * A step whose results all come from the node cache leaves a promise behind that an abort rejects later,
 * and nobody handles it: the process would end. So a graph with a cache is stopped by the gate alone, and
 * its nodes hear of the loss by `currentGrant().signal`. Seen with 1.4.8 and 1.7.3; it came with
 * https://github.com/langchain-ai/langgraphjs/pull/797
 */
function hasCache({ graph, options }: Run): boolean {
  return graph.cache !== undefined || (options.config && "cache" in options.config) === true;
}

/** Asks the local clock as well: after a stall nobody has told us yet. */
function isLost(grant: Grant): boolean {
  if (grant.ending === undefined)
    try {
      grant.assertHeld();
    } catch {
      return grant.signal.aborted;
    }
  return grant.signal.aborted;
}

/**
 * What a finished run returned, as `invoke` would have returned it: a resume of a thread that has
 * nothing left to do. The gate is closed, so it can neither run a node nor write.
 */
export async function valueOfFinished(run: Run): Promise<unknown> {
  const scope = runScope(run.grant);
  scope.close(new Error(`The run of "${run.grant.graph}" had finished; nothing is left to run.`));
  // With "exit", 1.4.8 stores the finished checkpoint once more.
  const config = { ...configOf(run, scope), durability: "sync" } as const;
  return await within({ scope }, () => invoke(run.graph, null, config));
}

function configOf(
  { grant, saver, runId, options }: Run,
  scope: RunScope,
): LangGraphRunnableConfig & { durability: Durability } {
  const { config, threadId, durability } = options;
  return {
    ...config,
    durability: durability ?? "sync",
    configurable: {
      ...config?.configurable,
      ...(threadId !== undefined && { thread_id: threadId }),
      ...grantConfigurable(grant),
      ...(saver && { [lentSaverKey]: runSaver(saver, scope, runId) }),
    },
  };
}
