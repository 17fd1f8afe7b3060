/** A replica that works off units by a LangGraph graph of three nodes, each with an effect outside of it. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { Grant } from "@sole-writer/core";
import { isBackendError } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";
import { fencedPostgresSaver, runGraph } from "@sole-writer/langgraph";
import { Pool } from "pg";

/** The first argument, as JSON. */
export interface GraphWorkerTask {
  readonly url: string;
  readonly label: string;
  readonly leaseMs: number;
}

/** What the payload of a unit asks of its second node. */
export interface GraphUnit {
  readonly does: "its-work" | "waits-to-be-killed" | "aborts" | "waits-to-be-stopped";
}

const task: GraphWorkerTask = JSON.parse(process.argv[2] ?? "");
const pool = new Pool({ connectionString: task.url, max: 4 });
pool.on("error", () => undefined);
const coordinator = durableClaim({
  app: "graphs",
  url: task.url,
  label: task.label,
  leaseMs: task.leaseMs,
  retryFirstMs: 100,
  pollMs: 200,
});

function nodesOf(grant: Grant) {
  const { does } = (grant.unit?.payload ?? { does: "its-work" }) as GraphUnit;
  async function effect(node: string): Promise<void> {
    await pool.query(
      "insert into effects (unit, graph, node, attempt, fence, worker) values ($1, $2, $3, $4, $5, $6)",
      [grant.unit?.id, grant.graph, node, grant.unit?.attempt, String(grant.fence), task.label],
    );
    process.send?.({ unit: grant.unit?.id, graph: grant.graph, node, worker: task.label });
  }
  async function second(): Promise<void> {
    await effect("second");
    if (does === "aborts") process.abort();
    const isFirst = grant.unit?.attempt === 1;
    if (does === "waits-to-be-killed" && isFirst)
      await new Promise(() => setInterval(() => {}, 1_000));
    // A node that obeys the drain: the super-step after it is another replica's.
    if (does === "waits-to-be-stopped" && !grant.draining.aborted && !wasStopped)
      await new Promise((resolve) => grant.draining.addEventListener("abort", resolve));
  }
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (old, more) => old.concat(more), default: () => [] }),
  });
  return new StateGraph(State)
    .addNode("first", async () => {
      await effect("first");
      return { log: ["first"] };
    })
    .addNode("second", async () => {
      await second();
      return { log: ["second"] };
    })
    .addNode("third", async () => {
      await effect("third");
      return { log: ["third"] };
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", "third")
    .addEdge("third", END)
    .compile({ checkpointer: fencedPostgresSaver(pool) });
}

/** A replica that is started after one was stopped has nothing to wait for. */
const wasStopped = process.argv[3] === "after-stop";
let stopping = false;

async function work(grant: Grant): Promise<void> {
  const threadId = `unit-${grant.unit?.id}`;
  try {
    const run = await runGraph(grant, nodesOf(grant), { input: { log: ["input"] }, threadId });
    if (run.status === "handed-back" || run.status === "waiting") return;
    await grant.settle({ kind: "done", result: run.value });
  } catch (error) {
    await grant.settle({ kind: "failed", error });
  }
}

process.on("SIGTERM", () => {
  stopping = true;
  void coordinator.close().then(() => pool.end());
});
process.send?.("ready");
const underWay = new Set<Promise<void>>();
while (!stopping) {
  try {
    const grants = await coordinator.claim({ limit: 4 });
    for (const grant of grants) {
      const done: Promise<void> = work(grant).finally(() => underWay.delete(done));
      underWay.add(done);
    }
    if (grants.length === 0) await coordinator.whenDue();
  } catch (error) {
    if (!isBackendError(error) && !stopping) throw error;
  }
}
