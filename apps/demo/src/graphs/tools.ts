import type { BaseCheckpointSaver, LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Grant } from "@sole-writer/core";
import { currentGrant } from "@sole-writer/langgraph";
import type { Pool } from "pg";

/** What the nodes of a graph work with. */
export interface Tools {
  readonly pool: Pool;
  readonly saver: BaseCheckpointSaver;
  readonly outside: Outside;
  readonly pen: BodyPen;
}

/** The world beyond the database, as a replica sees it. */
export interface Outside {
  /** @throws {Error} when the supplier feed is down or answers nonsense */
  askSupplier(supplier: string, signal: AbortSignal | undefined): Promise<unknown>;
  /** @throws {Error} when the scale does not answer */
  weigh(boxes: readonly string[], signal: AbortSignal | undefined): Promise<unknown>;
}

/** Notes when a node's body ran, in a table that Sole Writer does not know. */
export interface BodyPen {
  began(body: { graph: string; node: string; fence: bigint; atNs: bigint }): Promise<string>;
  ended(id: string, atNs: bigint): Promise<void>;
}

type Body<State, Update> = (state: State, config: LangGraphRunnableConfig) => Promise<Update>;

/**
 * The body of a node, with its beginning and its end on record. The end is noted whatever the body did,
 * also when it was aborted.
 */
export function onRecord<State, Update>(
  { pen }: Tools,
  node: string,
  body: Body<State, Update>,
): Body<State, Update> {
  return async (state, config) => {
    const { graph, fence } = grantOfRun();
    const id = await pen.began({ graph, node, fence, atNs: process.hrtime.bigint() });
    try {
      return await body(state, config);
    } finally {
      await pen.ended(id, process.hrtime.bigint());
    }
  };
}

/**
 * The grant that the calling node runs under.
 * @throws {Error} outside of `runGraph`
 */
export function grantOfRun(): Grant {
  const grant = currentGrant();
  if (!grant) throw new Error("This graph writes, so it is to be run by runGraph, under a grant.");
  return grant;
}
