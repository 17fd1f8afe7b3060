/**
 * A replica of an application on a LangGraph thread: told what to do by messages, so that a test decides
 * which of two is where.
 */
import { pathToFileURL } from "node:url";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Coordinator } from "@sole-writer/core";
import { fencedPostgresSaver, runGraph } from "@sole-writer/langgraph";
import { Pool } from "pg";

/** What a replica is started with, as JSON in its first argument. */
export interface ReplicaOptions {
  readonly label: string;
  readonly url: string;
  readonly app: string;
  /** `none`: as an application without the toolkit, on a saver that anybody may write. */
  readonly coordinator: "none" | { readonly module: string; readonly settings: unknown };
}

export type Command =
  /** Runs the graph with one entry for its log, and stands still in the first node. */
  | { readonly type: "run"; readonly entry: string; readonly threadId: string }
  | { readonly type: "go-on" };

export type Report =
  | { readonly type: "ready" }
  | { readonly type: "in-node"; readonly entry: string }
  | { readonly type: "ended"; readonly how: string; readonly detail: string }
  | { readonly type: "crash"; readonly kind: string; readonly detail: string };

interface StrategyModule {
  open(options: {
    app: string;
    label: string;
    acquireTimeoutMs: number;
    settings: unknown;
    onEvent(): void;
  }): Coordinator;
}

const options = JSON.parse(process.argv[2] ?? "{}") as ReplicaOptions;
const tell = (report: Report) => process.send?.(report);
const crashed = (kind: string) => (error: unknown) =>
  tell({ type: "crash", kind, detail: String(error) });
process.on("unhandledRejection", crashed("unhandledRejection"));
process.on("uncaughtException", crashed("uncaughtException"));
process.on("warning", crashed("warning"));

let goOn: () => void = () => undefined;
const pool = new Pool({ connectionString: options.url, application_name: options.label, max: 4 });
// A session that ends while it idles in the pool is replaced by the next query.
pool.on("error", () => undefined);

const saver = options.coordinator === "none" ? new PostgresSaver(pool) : fencedPostgresSaver(pool);
const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (old, more) => old.concat(more), default: () => [] }),
});
const graph = new StateGraph(Log)
  .addNode("think", async ({ log }) => {
    const entry = log.at(-1) ?? "";
    await new Promise<void>((resolve) => {
      goOn = resolve;
      tell({ type: "in-node", entry });
    });
    return { log: [`${entry} thought`] };
  })
  .addNode("say", async ({ log }) => ({ log: [`${log.at(-1)} and said`] }))
  .addEdge(START, "think")
  .addEdge("think", "say")
  .compile({ checkpointer: saver });

const coordinator = await coordinatorOf(options);

async function coordinatorOf({ coordinator, app, label }: ReplicaOptions) {
  if (coordinator === "none") return undefined;
  const url = coordinator.module.startsWith("file:")
    ? coordinator.module
    : pathToFileURL(coordinator.module).href;
  const { open } = (await import(url)) as StrategyModule;
  const { settings } = coordinator;
  return open({ app, label, acquireTimeoutMs: 5_000, settings, onEvent: () => undefined });
}

async function run(entry: string, threadId: string): Promise<void> {
  const input = { log: [entry] };
  try {
    if (!coordinator) {
      await graph.invoke(input, { configurable: { thread_id: threadId }, durability: "sync" });
      tell({ type: "ended", how: "ran", detail: "" });
      return;
    }
    const outcome = await runGraph(coordinator, "chat", graph, {
      input,
      threadId,
      runId: entry,
    });
    const detail =
      outcome.status === "skipped"
        ? outcome.refusal.message
        : "error" in outcome
          ? String(outcome.error)
          : "";
    tell({ type: "ended", how: outcome.status, detail });
  } catch (error) {
    tell({ type: "ended", how: "threw", detail: String(error) });
  }
}

process.on("message", (command: Command) => {
  if (command.type === "run") void run(command.entry, command.threadId);
  else goOn();
});
process.on("disconnect", () => process.exit());
tell({ type: "ready" });
