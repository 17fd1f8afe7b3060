import type { Statement } from "@sole-writer/postgres";

/**
 * The rows of an application, and every advisory lock of this database with the name of its session.
 * Which of them belong together is seen by the key. It reads only.
 */
export const readRows: Statement = {
  text: `
    select
      graph,
      fence::text as fence,
      holder_label as label,
      session_id,
      last_window,
      array(
        select other.backend_pid
        from sole_writer.graph as other
        where other.lock_key = row.lock_key
          and other.backend_pid is not null
          and (other.app, other.graph) <> (row.app, row.graph)
      ) as pids_of_shared_key,
      (pg_catalog.date_part('epoch', held_since) * 1000)::float8 as since_ms,
      (pg_catalog.date_part('epoch', last_done_at) * 1000)::float8 as last_done_ms
    from sole_writer.graph as row
    where app = $1::text and ($2::text is null or graph = $2::text)
    order by graph`,
};

export interface GraphRow {
  readonly graph: string;
  readonly fence: string;
  readonly label: string | null;
  readonly session_id: string | null;
  /** Processes that were granted another graph with the same key. */
  readonly pids_of_shared_key: readonly number[];
  readonly last_window: string | null;
  readonly since_ms: number | null;
  readonly last_done_ms: number | null;
}

export const readLocks: Statement = {
  text: `
    select
      lock.classid::text || ':' || lock.objid::text || ':' || lock.objsubid::text as shown_as,
      lock.pid,
      session.application_name as application,
      (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::float8 as now_ms
    from pg_catalog.pg_locks as lock
    cross join lateral pg_catalog.pg_stat_get_activity(lock.pid) as session
    where lock.locktype = 'advisory'
      and lock.granted
      and lock.database = (select oid from pg_catalog.pg_database where datname = current_database())`,
};

export interface LockRow {
  /** `classid:objid:objsubid` */
  readonly shown_as: string;
  readonly pid: number;
  readonly application: string | null;
  readonly now_ms: number;
}
