import type { GraphStatus } from "@sole-writer/core";
import type { Connection, RunLimits } from "./connection.js";
import type { ClaimHome } from "./home.js";
import { type LaneRow, readLanes } from "./sql/read.js";

/** Who holds what. A graph whose holder's lease is over is free, swept or not. */
export async function readGraphs(
  home: ClaimHome,
  connection: Connection,
  graph: string | undefined,
  limits: RunLimits,
): Promise<readonly GraphStatus[]> {
  const rows = await connection.run<LaneRow>(readLanes, [home.app, graph ?? null], limits);
  return rows.map(statusOf);
}

function statusOf(row: LaneRow): GraphStatus {
  const { graph, holder_id: id, label, held_fence: fence, since_ms: sinceMs } = row;
  const facts = {
    graph,
    fence: BigInt(row.fence),
    ...(row.last_window !== null && { lastWindow: row.last_window }),
    ...(row.last_done_ms !== null && { lastDoneAt: new Date(row.last_done_ms) }),
  };
  if (id === null || label === null || fence === null || sinceMs === null)
    return { ...facts, state: "free" };
  return {
    ...facts,
    state: "held",
    holder: { id, label, fence: BigInt(fence), since: new Date(sinceMs) },
    heldForMs: Math.max(row.now_ms - sinceMs, 0),
  };
}
