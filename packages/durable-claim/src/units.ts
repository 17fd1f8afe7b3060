import {
  assertGraphName,
  type Backlog,
  type UnitChange,
  type UnitPage,
  type UnitQuery,
  type UnitRecord,
} from "@sole-writer/core";
import type { Statement } from "@sole-writer/postgres";
import { assertKnown, assertOneOf, assertUnitId, assertWhole } from "./checks.js";
import type { Connection } from "./connection.js";
import type { ClaimHome } from "./home.js";
import { jsonOf, reasonOf } from "./payload.js";
import {
  type BacklogRow,
  type CommandRow,
  cancelUnit,
  countBacklog,
  discardUnit,
  readUnits,
  resumeUnit,
  retryUnit,
  type UnitRow,
} from "./sql/units.js";

const queryNames = ["graph", "state", "key", "id", "limit", "after"];
const states = ["queued", "running", "waiting", "done", "dead", "cancelled"];
const defaultLimit = 100;

/** Reads the backlog, and the commands of operators. */
export function unitDesk(
  home: ClaimHome,
  connection: Connection,
  limitMs: number,
  /** There is something new to claim. */
  queued: () => void,
) {
  const ask = <Row>(verb: string, statement: Statement, values: readonly unknown[]) =>
    connection.run<Row>(statement, values, { limitMs, what: home.what(verb) });

  async function command(
    verb: string,
    statement: Statement,
    id: string,
    ...more: readonly unknown[]
  ): Promise<UnitChange> {
    assertUnitId(id);
    const [row] = await ask<CommandRow>(verb, statement, [home.app, id, ...more]);
    const { changed = false, state = null } = row ?? {};
    if (!changed) return { changed: false, id, ...(state && { state }) };
    if (state === "queued") queued();
    return { changed: true, id, state: state ?? "cancelled" };
  }

  return {
    async units(query: UnitQuery = {}): Promise<UnitPage> {
      assertKnown("A query of units", query, queryNames);
      const { graph, state, key, id, limit = defaultLimit, after } = query;
      if (graph !== undefined) assertGraphName(graph);
      if (id !== undefined) assertUnitId(id);
      if (after !== undefined) assertUnitId(after);
      assertWhole("limit", limit, 1, 1_000);
      const wanted = typeof state === "string" ? [state] : state;
      for (const one of wanted ?? []) assertOneOf("state", one, states);
      const rows = await ask<UnitRow>("read the units of", readUnits, [
        home.app,
        graph ?? null,
        wanted ?? null,
        key ?? null,
        id ?? null,
        after ?? "0",
        limit + 1,
      ]);
      const page = rows.slice(0, limit).map(recordOf);
      const next = rows.length > limit ? page.at(-1)?.id : undefined;
      return { units: page, ...(next !== undefined && { next }) };
    },
    async backlog(graph?: string): Promise<readonly Backlog[]> {
      if (graph !== undefined) assertGraphName(graph);
      const values = [home.app, graph ?? null];
      const rows = await ask<BacklogRow>("count the units of", countBacklog, values);
      return rows.map(({ oldest_due_ms: oldestDueMs, ...counts }) => ({
        ...counts,
        ...(oldestDueMs !== null && { oldestDueMs: Math.max(oldestDueMs, 0) }),
      }));
    },
    retry: (id: string) => command("retry a unit of", retryUnit, id),
    cancel: (id: string, reason = "cancelled by an operator") =>
      command("cancel a unit of", cancelUnit, id, reasonOf(reason)),
    discard: (id: string) => command("discard a unit of", discardUnit, id),
    async resume(id: string, value: unknown): Promise<UnitChange> {
      const json = jsonOf("value", value, home.maxPayloadBytes);
      return command("resume a unit of", resumeUnit, id, json);
    },
  };
}

function recordOf(row: UnitRow): UnitRecord {
  return {
    id: row.id,
    graph: row.graph,
    ...(row.key !== null && { key: row.key }),
    state: row.state,
    payload: row.payload,
    priority: row.priority,
    runAt: new Date(row.run_ms),
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    submittedAt: new Date(row.submitted_ms),
    ...(row.started_ms !== null && { startedAt: new Date(row.started_ms) }),
    ...(row.finished_ms !== null && { finishedAt: new Date(row.finished_ms) }),
    ...(row.holder_label !== null && { holder: row.holder_label }),
    ...(row.fence !== null && { fence: BigInt(row.fence) }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.result !== null && { result: row.result }),
    ...(row.waits_on !== null && { on: row.waits_on }),
  };
}
