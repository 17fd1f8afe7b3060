import { type Grant, InvalidOptionError } from "@sole-writer/core";
import {
  type Attempt,
  attempt,
  callersStop,
  closingStop,
  type Reader,
  type Run,
  readersStop,
  valueOfFinished,
} from "./attempt.js";
import { within } from "./current-grant.js";
import type { CompiledGraph } from "./graph.js";
import { inputFor, type Pause } from "./pause.js";
import { observe, type RunEvent } from "./run-events.js";
import type { RunOptions } from "./run-options.js";
import type { GraphRun, RunRemarks } from "./run-result.js";
import { saverOf } from "./run-saver.js";
import { runScope } from "./run-scope.js";
import type { StreamShape } from "./stream-shape.js";
import { lookAtThread, type Progress, pauseAfter } from "./thread.js";
import { watchBodies } from "./watch-bodies.js";

/** Decides from the thread what to do, does it, and settles the grant where the work goes on later. */
export async function runUnderGrant(
  grant: Grant,
  graph: CompiledGraph,
  options: RunOptions<unknown> & StreamShape,
  reader?: Reader,
): Promise<GraphRun<unknown>> {
  const saver = saverOf(graph);
  const { threadId, resume, signal } = options;
  if (saver && (typeof threadId !== "string" || threadId === ""))
    throw new InvalidOptionError(
      `threadId is missing: the graph run as "${grant.graph}" has a checkpointer.`,
    );
  const runId = options.runId ?? grant.unit?.id;
  const run: Run = { grant, graph, saver, runId, options, reader };
  watchBodies();
  grant.assertHeld();

  const progress: Progress =
    saver && threadId !== undefined
      ? // Under the grant: a saver that guards its threads enters this one before it is read.
        await within({ scope: runScope(grant) }, () => lookAtThread(graph, saver, threadId, runId))
      : { state: "none" };
  const answered = progress.state === "paused" && resume && inputFor(progress.at, resume);
  const unused: RunRemarks = resume && !answered ? { unusedResume: true } : {};

  if (progress.state === "finished")
    return { status: "already-ran", value: await valueOfFinished(run), ...unused };
  if (progress.state === "paused" && !answered) return await wait(grant, progress.at, unused);
  const stop = stopAsked(grant, signal, reader);
  if (stop) return await handBack(grant, stop, unused);

  const isNew = progress.state === "none";
  const facts = { graph: grant.graph, fence: grant.fence, ...named({ threadId, runId }) };
  const tell = (event: RunEvent) => observe(options.onEvent, event);
  tell({ type: isNew ? "started" : "resumed", ...facts });
  const ended = await attempt(
    run,
    isNew ? options.input : answered ? answered.input : null,
    (left) => tell({ type: "nodes-left", ...facts, ...left }),
  );
  const remarks = { ...unused, ...remarksOn(ended) };

  if (ended.kind === "threw") throw ended.error;
  if (ended.kind === "drained") return await handBack(grant, ended.reason, remarks);
  const pause =
    saver && threadId !== undefined && (await pauseAfter(graph, saver, threadId, ended.value));
  if (pause) return await wait(grant, pause, remarks);
  const value = reader && saver ? await valueOfFinished(run) : ended.value;
  return { status: isNew ? "ran" : "resumed", value, ...remarks };
}

function stopAsked(
  grant: Grant,
  signal: AbortSignal | undefined,
  reader: Reader | undefined,
): string | undefined {
  if (reader?.cancelled.aborted) return readersStop;
  if (signal?.aborted) return callersStop;
  return grant.draining.aborted ? closingStop : undefined;
}

async function wait(grant: Grant, on: Pause, remarks: RunRemarks): Promise<GraphRun<never>> {
  await grant.settle({ kind: "waiting", on });
  return { status: "waiting", on, ...remarks };
}

async function handBack(
  grant: Grant,
  reason: string,
  remarks: RunRemarks,
): Promise<GraphRun<never>> {
  await grant.settle({ kind: "handed-back", reason });
  return { status: "handed-back", reason, ...remarks };
}

function remarksOn({ leftovers }: Attempt): RunRemarks {
  const { stillRunning } = leftovers;
  return stillRunning.length > 0 ? { stillRunning } : {};
}

function named(ids: { threadId: string | undefined; runId: string | undefined }) {
  const { threadId, runId } = ids;
  return {
    ...(threadId !== undefined && { threadId }),
    ...(runId !== undefined && { runId }),
  };
}
