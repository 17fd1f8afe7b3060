import type { Statement } from "@sole-writer/postgres";
import type { KeyForm } from "../key.js";
import { type LockHolder, whoHolds } from "./who-holds.js";
import { hasRun } from "./window-has-run.js";

/**
 * Tries the lock and, with it in hand, raises the fence: one statement, one round trip.
 *
 * What makes it atomic is the advisory lock: nobody else writes the row of this graph while it is held,
 * except a holder of the moment before, whose last update may still be on its way; `on conflict` then
 * waits for that commit and works on the row as it is afterwards. The window is looked at twice: before
 * the lock, so that a window that has run costs no lock, and on the newest version of the row.
 *
 * The single row that everything is driven from, and a volatile function in a `with` of its own, which is
 * never inlined, keep the planner from evaluating the try more than once: session locks are counted, and
 * one unlock would then leave one behind.
 *
 * When it fails after the lock was taken, the lock is still there: close the session.
 *
 * $1 to $6 as in `whoHolds`, $7 to $9 as in `hasRun`, $10 holder id, $11 holder label, $12 session id,
 * $13 the announced process id, $14 (and $15) the arguments of the lock
 */
function take(form: KeyForm): Statement {
  const lockArguments = form === "pair" ? "$14::int, $15::int" : "$14::bigint";
  return {
    name: `sole-writer-take-${form}`,
    text: `
      with
        known as materialized (
          select ${hasRun("row")} as has_run
          from (values (1)) as one
          left join sole_writer.graph as row on row.app = $1::text and row.graph = $2::text
        ),
        lock as materialized (
          select
            has_run,
            pg_catalog.pg_backend_pid() = $13::int as own_session,
            case
              when has_run or pg_catalog.pg_backend_pid() <> $13::int then false
              else pg_catalog.pg_try_advisory_lock(${lockArguments})
            end as locked
          from known
        ),
        written as (
          insert into sole_writer.graph as row
            (app, graph, fence, lock_key, holder_id, holder_label, session_id, backend_pid, held_since)
          select
            $1::text, $2::text,
            (extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint,
            $3::text, $10::uuid, $11::text, $12::text, $13::int, pg_catalog.clock_timestamp()
          from lock
          where locked
          on conflict (app, graph) do update set
            fence = greatest(row.fence + 1, excluded.fence),
            lock_key = excluded.lock_key,
            holder_id = excluded.holder_id,
            holder_label = excluded.holder_label,
            session_id = excluded.session_id,
            backend_pid = excluded.backend_pid,
            held_since = excluded.held_since
          where not ${hasRun("row")}
          returning fence, held_since
        )
      select
        lock.has_run,
        lock.own_session,
        lock.locked,
        written.fence::text as fence,
        (pg_catalog.date_part('epoch', written.held_since) * 1000)::float8 as since_ms,
        case when not lock.locked and not lock.has_run then ${whoHolds} end as held_by
      from lock
      left join written on true`,
  };
}

/** The statement for each form of key. */
export const takeStatements: Readonly<Record<KeyForm, Statement>> = {
  pair: take("pair"),
  single: take("single"),
};

/** The answer to `take`. Locked without a fence: the window ran between the two looks. */
export interface TakeRow {
  readonly has_run: boolean;
  readonly own_session: boolean;
  readonly locked: boolean;
  readonly fence: string | null;
  readonly since_ms: number | null;
  readonly held_by: LockHolder | null;
}
