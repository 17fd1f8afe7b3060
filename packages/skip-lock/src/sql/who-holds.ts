import type { LockKey } from "../key.js";

/**
 * Who holds a key at this moment, as a JSON object, or null: an expression, to be evaluated after the lock
 * was tried. The lock table and the session's name are read from the server's shared memory, never from
 * the snapshot of the statement, so that a holder who has just changed is not taken for the one before.
 * The row of the graph comes from the snapshot, and counts only when it names that same session.
 *
 * $1 app, $2 graph, $3 lock_key, $4 classid, $5 objid, $6 objsubid
 */
export const whoHolds = `(
  select pg_catalog.json_build_object(
    'pid', lock.pid,
    'application', session.application_name,
    'graph', row.graph,
    'app', row.app,
    'label', row.holder_label,
    'fence', row.fence::text,
    'sinceMs', (pg_catalog.date_part('epoch', row.held_since) * 1000)::float8
  )
  from pg_catalog.pg_locks as lock
  cross join lateral pg_catalog.pg_stat_get_activity(lock.pid) as session
  left join lateral (
    select known.*
    from sole_writer.graph as known
    where known.lock_key = $3::text
      and known.backend_pid = lock.pid
      and session.application_name like 'sole-writer/' || known.session_id || ' %'
    order by (known.app = $1::text and known.graph = $2::text) desc
    limit 1
  ) as row on true
  where lock.locktype = 'advisory'
    and lock.granted
    and lock.database = (select oid from pg_catalog.pg_database where datname = current_database())
    and lock.classid = $4::oid
    and lock.objid = $5::oid
    and lock.objsubid = $6::smallint
  limit 1
)`;

/** The values of $1 to $6. */
export function whoHoldsValues(app: string, graph: string, key: LockKey): readonly unknown[] {
  const { classId, objectId, subId } = key.shownAs;
  return [app, graph, key.text, classId, objectId, subId];
}

/** What `whoHolds` answers. */
export interface LockHolder {
  readonly pid: number;
  readonly application: string | null;
  /** The rest is null when the session's row is not there, or not yet. */
  readonly graph: string | null;
  readonly app: string | null;
  readonly label: string | null;
  readonly fence: string | null;
  readonly sinceMs: number | null;
}
