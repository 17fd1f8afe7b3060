import type {
  BaseCheckpointSaver,
  LangGraphRunnableConfig,
  StateSnapshot,
} from "@langchain/langgraph";

/**
 * What a compiled graph must be able to do to be run here. `StateGraph.compile()`, `entrypoint()` and
 * every other `Pregel` fit.
 */
export interface CompiledGraph {
  readonly checkpointer?: BaseCheckpointSaver | boolean | undefined;
  readonly cache?: object | undefined;
  readonly interruptBefore?: readonly PropertyKey[] | "*" | undefined;
  readonly interruptAfter?: readonly PropertyKey[] | "*" | undefined;
  invoke(input: never, options?: never): Promise<unknown>;
  getState(config: LangGraphRunnableConfig): Promise<StateSnapshot>;
}

/** A compiled graph whose run can be read chunk by chunk. */
export interface StreamableGraph extends CompiledGraph {
  stream(input: never, options?: never): Promise<AsyncIterable<unknown>>;
}

/** What `G` takes as its input. */
export type InputOf<G> = G extends { invoke(input: infer Input, options?: never): unknown }
  ? Exclude<Input, null>
  : never;

/** What a finished run of `G` returns. */
export type ValueOf<G> = G extends { invoke(input: never, options?: never): Promise<infer Value> }
  ? Awaited<Value>
  : never;

/** `invoke` as this package calls it: the library takes more than the types of one graph let us say. */
export function invoke(
  graph: CompiledGraph,
  input: unknown,
  config: LangGraphRunnableConfig & { readonly durability: Durability },
): Promise<unknown> {
  return graph.invoke(input as never, config as never);
}

/** `stream`, in the same way. */
export function stream(
  graph: StreamableGraph,
  input: unknown,
  config: LangGraphRunnableConfig & { readonly durability: Durability } & object,
): Promise<AsyncIterable<unknown>> {
  return graph.stream(input as never, config as never);
}

/** When checkpoints are stored: before the next super-step, beside it, or only when the run ends. */
export type Durability = "sync" | "async" | "exit";
