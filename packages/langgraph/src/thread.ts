import { type BaseCheckpointSaver, INTERRUPT, type StateSnapshot } from "@langchain/langgraph";
import type { CompiledGraph } from "./graph.js";
import type { Pause } from "./pause.js";
import { runKey } from "./run-saver.js";

/** How far one run has come on its thread. */
export type Progress =
  /** The thread is empty, or its newest checkpoint is another run's. */
  | { readonly state: "none" }
  | { readonly state: "begun" }
  | { readonly state: "paused"; readonly at: Pause }
  | { readonly state: "finished" };

/**
 * Looks at the thread. Without a run id the thread itself is the run; with one, only a thread whose
 * newest checkpoint carries that id is ours.
 */
export async function lookAtThread(
  graph: CompiledGraph,
  saver: BaseCheckpointSaver,
  threadId: string,
  runId: string | undefined,
): Promise<Progress> {
  const snapshot = await graph.getState({ configurable: { thread_id: threadId } });
  if (snapshot.metadata === undefined) return { state: "none" };
  if (runId !== undefined && (await writerOf(saver, snapshot)) !== runId) return { state: "none" };
  // Not `next`: it leaves out a task whose result is stored while the checkpoint after it is not.
  if (snapshot.tasks.length === 0) return { state: "finished" };
  const at = await pauseOf(graph, saver, snapshot);
  return at ? { state: "paused", at } : { state: "begun" };
}

/**
 * Where a run that `invoke` returned from has paused, if it has. Only a value that says so costs a read:
 * LangGraph marks every object it returns at a pause, and can mark nothing else.
 */
export async function pauseAfter(
  graph: CompiledGraph,
  saver: BaseCheckpointSaver,
  threadId: string,
  value: unknown,
): Promise<Pause | undefined> {
  if (typeof value === "object" && value !== null && !(INTERRUPT in value)) return undefined;
  const snapshot = await graph.getState({ configurable: { thread_id: threadId } });
  if (snapshot.tasks.length === 0) return undefined;
  return (
    (await pauseOf(graph, saver, snapshot)) ?? {
      id: await pauseId(saver, snapshot),
      interrupts: [],
      next: snapshot.next.map(String),
    }
  );
}

/** The run that wrote the checkpoint. What a person edited with `updateState` belongs to the run before. */
async function writerOf(saver: BaseCheckpointSaver, snapshot: StateSnapshot): Promise<unknown> {
  let { metadata, parentConfig }: Pick<StateSnapshot, "metadata" | "parentConfig"> = snapshot;
  for (;;) {
    const stamp = stampOf(metadata);
    const edited = metadata?.source === "update" || metadata?.source === "fork";
    if (stamp !== undefined || !edited || !parentConfig) return stamp;
    const parent = await saver.getTuple(parentConfig);
    metadata = parent?.metadata;
    parentConfig = parent?.parentConfig;
  }
}

function stampOf(metadata: object | undefined): unknown {
  return metadata && runKey in metadata ? metadata[runKey] : undefined;
}

async function pauseOf(
  graph: CompiledGraph,
  saver: BaseCheckpointSaver,
  snapshot: StateSnapshot,
): Promise<Pause | undefined> {
  const next = snapshot.next.map(String);
  if (snapshot.tasks.some((task) => task.interrupts.length > 0)) {
    const answered = await tasksWithOutput(saver, snapshot);
    const asking = snapshot.tasks.filter((task) => !answered.has(task.id));
    const interrupts = asking.flatMap((task) => task.interrupts.flat());
    if (interrupts.length > 0) return { id: await pauseId(saver, snapshot), interrupts, next };
  }
  // LangGraph keeps no record of a stop at a breakpoint, and a resume that nobody asked for would walk
  // past it.
  const stops =
    includesAny(graph.interruptBefore, next) ||
    (isSet(graph.interruptAfter) &&
      includesAny(graph.interruptAfter, await nodesOfLastStep(saver, snapshot)));
  return stops ? { id: await pauseId(saver, snapshot), interrupts: [], next } : undefined;
}

/** A node that asks twice stays on its checkpoint, and has one answer more. */
async function pauseId(saver: BaseCheckpointSaver, { config }: StateSnapshot): Promise<string> {
  const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
  const answers = writes
    .filter(([, channel]) => channel === "__resume__")
    .map(([, , given]) => given);
  const count = answers.reduce<number>(
    (sum, given) => sum + (Array.isArray(given) ? given.length : 1),
    0,
  );
  return `${config.configurable?.checkpoint_id}/${count}`;
}

/** What a task stores that is no result of it. */
const notOutput = ["__error__", "__error_source_node__", "__interrupt__", "__resume__"];

/**
 * A task that was answered and has finished beside one that still asks keeps its question in the thread,
 * and up to 1.4.8 at least the snapshot shows it as open.
 */
async function tasksWithOutput(
  saver: BaseCheckpointSaver,
  { config }: StateSnapshot,
): Promise<ReadonlySet<string>> {
  const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
  return new Set(
    writes.filter(([, channel]) => !notOutput.includes(channel)).map(([task]) => task),
  );
}

type Breakpoints = CompiledGraph["interruptBefore"];

function isSet(breakpoints: Breakpoints): boolean {
  return breakpoints !== undefined && breakpoints.length > 0;
}

function includesAny(breakpoints: Breakpoints, nodes: readonly string[]): boolean {
  if (breakpoints === "*") return nodes.length > 0;
  return breakpoints?.some((breakpoint) => nodes.includes(String(breakpoint))) ?? false;
}

/** A node that ran has seen newer versions of its triggers than it had in the checkpoint before. */
async function nodesOfLastStep(
  saver: BaseCheckpointSaver,
  { config, parentConfig }: StateSnapshot,
): Promise<string[]> {
  if (!parentConfig) return [];
  const [after, before] = await Promise.all([saver.getTuple(config), saver.getTuple(parentConfig)]);
  const seen = Object.entries(after?.checkpoint.versions_seen ?? {});
  const seenBefore = before?.checkpoint.versions_seen;
  const ran = seen.filter(
    ([node, versions]) => JSON.stringify(versions) !== JSON.stringify(seenBefore?.[node] ?? {}),
  );
  return ran.map(([node]) => node).filter((node) => !node.startsWith("__"));
}
