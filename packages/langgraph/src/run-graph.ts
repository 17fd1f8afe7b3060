import {
  type Coordinator,
  type Grant,
  type Outcome,
  tick,
  windowIdentity,
} from "@sole-writer/core";
import type { Reader } from "./attempt.js";
import type { CompiledGraph, InputOf, ValueOf } from "./graph.js";
import type { RunOptions, TickGraphOptions } from "./run-options.js";
import type { GraphOutcome, GraphRun, RunRemarks } from "./run-result.js";
import { runUnderGrant } from "./run-under-grant.js";
import type { StreamShape } from "./stream-shape.js";

/**
 * Runs a compiled LangGraph graph under a grant, once, however often it is called for the same run.
 *
 * It looks at the thread first: a run that finished is `already-ran`, one that was begun is `resumed`
 * without its input, any other is started. It comes back only when every node body and every checkpoint
 * write that it started has ended, or after `settleTimeoutMs`; the grant may be released then. It settles
 * the grant itself where the work goes on later (`waiting`, `handed-back`), and leaves every other
 * ending to its caller, best to `tick`.
 * @throws the node's own error.
 * @throws {GrantLostError} when the grant was lost: no further node was started and no further checkpoint
 *   written. `leftoversOf` says which nodes had not obeyed.
 * @throws {InvalidOptionError} when the graph has a checkpointer and there is no `threadId`.
 */
export function runGraph<G extends CompiledGraph>(
  grant: Grant,
  graph: G,
  options: RunOptions<InputOf<G>>,
): Promise<GraphRun<ValueOf<G>>>;
/**
 * The same as one tick: acquires `name`, runs, settles, and answers with an outcome.
 * @throws {BackendError} and everything else that `acquire` throws. Errors of the nodes are outcomes.
 */
export function runGraph<G extends CompiledGraph>(
  coordinator: Coordinator,
  name: string,
  graph: G,
  options: TickGraphOptions<InputOf<G>>,
): Promise<GraphOutcome<ValueOf<G>>>;
export function runGraph(
  ...args:
    | [Grant, CompiledGraph, RunOptions<unknown>]
    | [Coordinator, string, CompiledGraph, TickGraphOptions<unknown>]
): Promise<GraphRun<unknown> | GraphOutcome<unknown>> {
  return args.length === 3 ? runUnderGrant(...args) : tickGraph(...args);
}

/** One tick whose work is the graph, read by `reader` if there is one. */
export async function tickGraph(
  coordinator: Coordinator,
  name: string,
  graph: CompiledGraph,
  options: TickGraphOptions<unknown> & StreamShape,
  reader?: Reader,
): Promise<GraphOutcome<unknown>> {
  const { window, minIntervalMs, signal, acquireTimeoutMs } = options;
  const acquire = {
    ...(window !== undefined && { window }),
    ...(minIntervalMs !== undefined && { minIntervalMs }),
    ...(signal && { signal }),
    ...(acquireTimeoutMs !== undefined && { acquireTimeoutMs }),
  };
  const seen: { run?: GraphRun<unknown> } = {};
  const outcome = await tick(
    coordinator,
    name,
    async (grant) => {
      const windowId = window === undefined ? undefined : windowIdentity(window).id;
      const runId = options.runId ?? grant.unit?.id ?? windowId;
      const named = { ...options, ...(runId !== undefined && { runId }) };
      seen.run = await runUnderGrant(grant, graph, named, reader);
    },
    acquire,
  );
  return { ...outcomeOf(outcome, seen.run), ...remarksOf(seen.run) };
}

/** A node may have settled the grant itself; then that is the ending, and there may be no value. */
function outcomeOf(
  outcome: Outcome<void>,
  run: GraphRun<unknown> | undefined,
): GraphOutcome<unknown> {
  if (outcome.status === "ran")
    return run && "value" in run
      ? { ...outcome, value: run.value, how: run.status }
      : { ...outcome, how: "ran" };
  if (outcome.status !== "waiting") return outcome;
  const on =
    run?.status === "waiting" ? run.on : { id: "", interrupts: [{ value: outcome.on }], next: [] };
  return { ...outcome, on };
}

function remarksOf(run: RunRemarks | undefined): RunRemarks {
  const { unusedResume, stillRunning } = run ?? {};
  return { ...(unusedResume && { unusedResume }), ...(stillRunning && { stillRunning }) };
}
