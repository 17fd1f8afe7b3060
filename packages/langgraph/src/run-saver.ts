import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { RunScope } from "./run-scope.js";
import { isWriter, saverOver } from "./saver-proxy.js";

/** Under which key the metadata of a checkpoint carries the id of the run that wrote it. */
export const runKey = "sole_writer_run";

/**
 * A graph's saver as one run sees it. Writes go through the run's gate and are counted there, and each
 * checkpoint is stamped with the run's id: LangGraph for JavaScript stores nothing of `config.metadata`.
 * Everything else is the saver's own.
 */
export function runSaver(
  saver: BaseCheckpointSaver,
  scope: RunScope,
  runId: string | undefined,
): BaseCheckpointSaver {
  const put: BaseCheckpointSaver["put"] = (config, checkpoint, metadata, versions) => {
    const stamped = runId === undefined ? metadata : { ...metadata, [runKey]: runId };
    return saver.put(config, checkpoint, stamped, versions);
  };
  return saverOver(saver, (name, call) => {
    const method = name === "put" ? put : call;
    if (!isWriter(name)) return undefined;
    return (...args: never[]) => scope.write(async () => Reflect.apply(method, undefined, args));
  });
}

/** The saver that a graph was compiled with, if any. */
export function saverOf(graph: {
  readonly checkpointer?: BaseCheckpointSaver | boolean | undefined;
}): BaseCheckpointSaver | undefined {
  return typeof graph.checkpointer === "object" ? graph.checkpointer : undefined;
}

/**
 * Where LangGraph itself puts the saver that a parent lends its subgraphs. A saver found there goes
 * before the graph's own, so the graph, which other runs share, stays as it is.
 * https://github.com/langchain-ai/langgraphjs/blob/main/libs/langgraph-core/src/constants.ts
 */
export const lentSaverKey = "__pregel_checkpointer";
