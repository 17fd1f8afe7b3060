import type { GraphStatus } from "@sole-writer/core";
import { postgresFault, readSessionName } from "@sole-writer/postgres";
import { readHolder } from "./describe-holder.js";
import type { LockSessions } from "./lock-sessions.js";
import { type GraphRow, type LockRow, readLocks, readRows } from "./sql/read-graphs.js";
import { whoHoldsValues } from "./sql/who-holds.js";
import { type WhoHoldsRow, whoHoldsNow } from "./sql/who-holds-now.js";
import type { LockHome } from "./term.js";

/** Who holds what: a graph is held when its key is locked now, whatever its row says. */
export async function readGraphs(
  home: LockHome,
  sessions: LockSessions,
  graph: string | undefined,
  signal: AbortSignal,
): Promise<readonly GraphStatus[]> {
  const lockSession = await sessions.borrow(signal);

  /** Never granted to a replica, and yet a program of somebody else may hold it. */
  async function stranger(name: string): Promise<GraphStatus[]> {
    const values = whoHoldsValues(home.app, name, home.keyOf(name));
    const [row] = await sessions.run<WhoHoldsRow>(lockSession, whoHoldsNow, values, signal);
    const holder = readHolder(row?.held_by ?? null);
    if (holder?.kind !== "stranger") return [];
    return [{ graph: name, state: "held", holder: holder.holder }];
  }

  try {
    const locks = await sessions.run<LockRow>(lockSession, readLocks, [], signal);
    const rows = await sessions.run<GraphRow>(
      lockSession,
      readRows,
      [home.app, graph ?? null],
      signal,
    );
    const lockOf = new Map(locks.map((lock) => [lock.shown_as, lock]));
    const known = rows.map((row) => status(home, row.graph, row, lockOf));
    const found = graph === undefined || known.length > 0 ? known : await stranger(graph);
    sessions.putBack(lockSession);
    return found;
  } catch (error) {
    sessions.discard(lockSession, async () => undefined);
    throw signal.aborted
      ? signal.reason
      : postgresFault(error, home.what("inspect", graph ?? "every graph"));
  }
}

function status(
  home: LockHome,
  graph: string,
  row: GraphRow,
  lockOf: ReadonlyMap<string, LockRow>,
): GraphStatus {
  const { classId, objectId, subId } = home.keyOf(graph).shownAs;
  const lock = lockOf.get(`${classId}:${objectId}:${subId}`);
  const facts = {
    graph,
    fence: BigInt(row.fence),
    ...(row.last_window !== null && { lastWindow: row.last_window }),
    ...(row.last_done_ms !== null && { lastDoneAt: new Date(row.last_done_ms) }),
  };
  if (!lock || row.pids_of_shared_key.includes(lock.pid)) return { ...facts, state: "free" };
  const session = readSessionName(lock.application ?? "");
  const isRows = session !== undefined && session.sessionId === row.session_id;
  const holder = readHolder({
    pid: lock.pid,
    application: lock.application,
    graph: isRows ? graph : null,
    app: isRows ? home.app : null,
    label: isRows ? row.label : null,
    fence: isRows ? row.fence : null,
    sinceMs: isRows ? row.since_ms : null,
  });
  return {
    ...facts,
    state: "held",
    ...(holder && { holder: holder.holder }),
    ...(isRows && row.since_ms !== null && { heldForMs: Math.max(lock.now_ms - row.since_ms, 0) }),
  };
}
