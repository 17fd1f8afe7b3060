import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { fencedPostgresSaver, runGraph } from "@sole-writer/langgraph";
import { skipLock } from "@sole-writer/skip-lock";
import { Pool } from "pg";
import { lowStock, order } from "./warehouse.js";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const saver = fencedPostgresSaver(pool);
await saver.setup();
const coordinator = skipLock({ app: "warehouse", url: process.env.DATABASE_URL ?? "" });

const State = Annotation.Root({ low: Annotation<string[]>, ordered: Annotation<string[]> });
const graph = new StateGraph(State)
  .addNode("look", async () => ({ low: await lowStock(pool) }))
  .addNode("order", async ({ low }) => ({ ordered: await order(pool, low) }))
  .addEdge(START, "look")
  .addEdge("look", "order")
  .compile({ checkpointer: saver });

/** Called every five minutes, on every replica. */
export async function restock(window: string): Promise<string> {
  const threadId = `restock ${window}`;
  const run = await runGraph(coordinator, "restock", graph, { input: {}, threadId, window });
  if (run.status === "failed") throw run.error;
  return run.status;
}

export async function stop(): Promise<void> {
  await coordinator.close();
  await pool.end();
}
