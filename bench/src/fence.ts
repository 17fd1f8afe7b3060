/**
 * What the fence costs: a LangGraph run of three nodes that do nothing, which is the worst case, with
 * LangGraph's own saver and with the fenced one; and the parts of the difference, each by itself.
 */
import { randomUUID } from "node:crypto";
import { Annotation, type BaseCheckpointSaver, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Grant } from "@sole-writer/core";
import { memoryCoordinator } from "@sole-writer/core/testing";
import { fencedPostgresSaver, withGrant } from "@sole-writer/langgraph";
import { startPostgres } from "@sole-writer/testbed";
import { Pool, type PoolClient } from "pg";
import { interleaved, type Spread } from "./measure.js";

const State = Annotation.Root({
  a: Annotation<number>,
  b: Annotation<number>,
  c: Annotation<number>,
});

function threeNodes(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode("one", async () => ({ a: 1 }))
    .addNode("two", async () => ({ b: 2 }))
    .addNode("three", async () => ({ c: 3 }))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", "three")
    .compile({ checkpointer });
}

export interface FenceFigures {
  readonly runs: Record<"plain saver" | "fenced saver" | "plain saver beside the guard", Spread>;
  readonly parts: Record<string, Spread>;
}

export async function fence(rounds: number): Promise<FenceFigures> {
  await using server = await startPostgres({ settings: { fsync: "on", synchronous_commit: "on" } });
  const url = await server.createDatabase();
  const pool = new Pool({ connectionString: url, max: 4 });
  await using coordinator = memoryCoordinator();
  try {
    const bare = new PostgresSaver(pool, undefined, { schema: "bare" });
    await bare.setup();
    const fencedSaver = fencedPostgresSaver(pool, { schema: "guarded" });
    await fencedSaver.setup();
    const graphs = {
      bare: threeNodes(bare),
      fenced: threeNodes(fencedSaver),
      beside: threeNodes(new PostgresSaver(pool, undefined, { schema: "guarded" })),
    };
    const grant = await coordinator.acquire("g");
    if (!grant.granted) throw new Error(grant.message);
    const invoke = async (graph: ReturnType<typeof threeNodes>) => {
      const config = { configurable: { thread_id: randomUUID() }, durability: "sync" as const };
      await graph.invoke({ a: 0 }, config);
    };
    const runs = await interleaved(rounds, {
      "plain saver": () => invoke(graphs.bare),
      "fenced saver": () => withGrant(grant, () => invoke(graphs.fenced)),
      "plain saver beside the guard": () => invoke(graphs.beside),
    });
    const parts = await partsOf(pool, grant, fencedSaver, rounds * 5);
    await grant.settle({ kind: "done" });
    return { runs, parts };
  } finally {
    await pool.end();
  }
}

/** The statements that make the difference, on one session. */
async function partsOf(pool: Pool, grant: Grant, saver: PostgresSaver, rounds: number) {
  const client = await pool.connect();
  const fenced = `begin; set local sole_writer.fence = '${grant.fence}'; set local idle_in_transaction_session_timeout = 5000`;
  const thread = randomUUID();
  await withGrant(grant, async () => {
    await saver.getTuple({ configurable: { thread_id: thread } });
  });
  try {
    return await interleaved(rounds, {
      "begin, commit": () => transaction(client, "begin", []),
      "begin with the fence, commit": () => transaction(client, fenced, []),
      "one row, not guarded": () => transaction(client, fenced, [row("bare", thread)]),
      "one row, guarded": () => transaction(client, fenced, [row("guarded", thread)]),
      "four rows, not guarded": () => transaction(client, fenced, four("bare", thread)),
      "four rows, guarded": () => transaction(client, fenced, four("guarded", thread)),
      "entering a new thread": async () => {
        await withGrant(grant, async () => {
          await saver.getTuple({ configurable: { thread_id: randomUUID() } });
        });
      },
      "reading a new thread": async () => {
        await saver.getTuple({ configurable: { thread_id: randomUUID() } });
      },
    });
  } finally {
    client.release();
  }
}

async function transaction(client: PoolClient, begin: string, statements: readonly string[]) {
  await client.query(begin);
  for (const statement of statements) await client.query(statement);
  await client.query("commit");
}

function row(schema: string, thread: string): string {
  return `insert into ${schema}.checkpoint_blobs values ('${thread}', '', '${randomUUID()}', '1', 'json', '1')`;
}

function four(schema: string, thread: string): string[] {
  return [1, 2, 3, 4].map(() => row(schema, thread));
}
