import { setTimeout as pause } from "node:timers/promises";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Coordinator, CoordinatorEvent } from "@sole-writer/core";
import { memoryCoordinator } from "@sole-writer/core/testing";
import { runGraph } from "@sole-writer/langgraph";
import { skipLock } from "@sole-writer/skip-lock";
import { Pool } from "pg";
import { describeAudit, packAudit } from "../graphs/pack-audit.js";
import { describePlan, restockPlan } from "../graphs/restock-plan.js";
import { answerForError, answerOf, said } from "./answer.js";
import { bodyPen } from "./body-pen.js";
import { outsideAt } from "./outside.js";
import type { GraphName, Opening, Ready, ReplicaEvent, TickAnswer } from "./protocol.js";

/** One process of the warehouse's application. */
export interface Replica {
  readonly ready: Ready;
  /** One tick; with `askAgainMs` as many as it takes until nobody else holds the graph. Never rejects. */
  tick(graph: GraphName, window: string, askAgainMs: number | undefined): Promise<TickAnswer>;
  /** `held by …` or `free`. Never rejects. */
  inspect(graph: GraphName): Promise<string>;
  close(): Promise<void>;
}

/** Opens everything a replica needs. Connections are made when they are first used. */
export function openReplica(opening: Opening, tell: (event: ReplicaEvent) => void): Replica {
  const pool = new Pool({ connectionString: opening.url, max: 4 });
  // A connection that dies while nobody uses it must not end the process.
  pool.on("error", () => {});
  const tools = {
    pool,
    saver: new PostgresSaver(pool),
    outside: outsideAt(opening.outsideUrl, opening.label),
    pen: bodyPen(pool),
  };
  const plan = restockPlan(tools);
  const audit = packAudit(tools);
  const coordinator = openCoordinator(opening, (event) => {
    const plain = plainEvent(event);
    if (plain) tell(plain);
  });

  async function once(graph: GraphName, window: string): Promise<TickAnswer> {
    const run = { input: { window }, window, threadId: `${graph} ${window}` };
    try {
      return graph === "restock_plan"
        ? answerOf(await runGraph(coordinator, graph, plan, run), describePlan)
        : answerOf(await runGraph(coordinator, graph, audit, run), describeAudit);
    } catch (error) {
      return answerForError(error);
    }
  }

  return {
    ready: {
      kind: "ready",
      strategy: coordinator.strategy,
      backend: coordinator.backend,
      processKilledMs: coordinator.guarantees.handover.processKilledMs,
    },
    async tick(graph, window, askAgainMs) {
      for (;;) {
        const answer = await once(graph, window);
        const isHeld = answer.status === "skipped" && answer.reason === "held";
        if (askAgainMs === undefined || !isHeld) return answer;
        await pause(askAgainMs);
      }
    },
    async inspect(graph) {
      try {
        const [status] = await coordinator.inspect(graph);
        return status?.state === "held" ? `held by ${status.holder?.label}` : "free";
      } catch (error) {
        return `unknown: ${String(error)}`;
      }
    },
    async close() {
      await coordinator.close({ graceMs: 1_000 });
      await pool.end();
    },
  };
}

function openCoordinator(
  { url, lockUrl, label, unprotected }: Opening,
  onEvent: (event: CoordinatorEvent) => void,
): Coordinator {
  if (unprotected) return memoryCoordinator({ app: "warehouse", label, onEvent });
  return skipLock({ app: "warehouse", url: lockUrl ?? url, label, onEvent });
}

function plainEvent(event: CoordinatorEvent): ReplicaEvent | undefined {
  const { graph } = event;
  const head = { kind: "event", atNs: String(process.hrtime.bigint()), graph } as const;
  switch (event.type) {
    case "granted":
      return { ...head, event: { type: "granted", fence: String(event.fence) } };
    case "refused": {
      const { tookMs, refusal } = event;
      return { ...head, event: { type: "refused", message: refusal.message, tookMs } };
    }
    case "acquire-failed":
      return { ...head, event: { type: "acquire-failed", message: said(event.error) } };
    case "lost": {
      const { fence, error } = event;
      return { ...head, event: { type: "lost", fence: String(fence), reason: error.reason } };
    }
    case "settled": {
      const { fence, ending } = event;
      return { ...head, event: { type: "settled", fence: String(fence), ending: ending.kind } };
    }
    default:
      return undefined;
  }
}
