import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Pool } from "pg";
import { lowStock, order } from "./warehouse.js";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const saver = new PostgresSaver(pool);
await saver.setup();

const State = Annotation.Root({ low: Annotation<string[]>, ordered: Annotation<string[]> });
const graph = new StateGraph(State)
  .addNode("look", async () => ({ low: await lowStock(pool) }))
  .addNode("order", async ({ low }) => ({ ordered: await order(pool, low) }))
  .addEdge(START, "look")
  .addEdge("look", "order")
  .compile({ checkpointer: saver });

/** Called every five minutes, on every replica. */
export async function restock(window: string): Promise<string> {
  const config = { configurable: { thread_id: `restock ${window}` } };
  const begun = await graph.getState(config);
  if (begun.metadata) return "skipped";
  await graph.invoke({}, config);
  return "ran";
}

export async function stop(): Promise<void> {
  await pool.end();
}
