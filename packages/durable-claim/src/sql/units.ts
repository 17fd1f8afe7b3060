import type { Statement } from "@sole-writer/postgres";
import { inMs, msOf } from "./fragments.js";

/**
 * A page of units in the order of their ids. It reads only.
 * $1 app, $2 graph or null, $3 states or null, $4 key or null, $5 id or null, $6 the id to begin after,
 * $7 limit
 */
export const readUnits: Statement = {
  text: `
    select
      id::text as id, graph, key, state, payload, -rank as priority, attempt,
      max_attempts, holder_label, fence::text as fence, reason, result, waits_on,
      ${inMs("run_at")} as run_ms,
      ${inMs("submitted_at")} as submitted_ms,
      ${inMs("started_at")} as started_ms,
      ${inMs("finished_at")} as finished_ms
    from sole_writer.unit as unit
    where app = $1::text
      and ($2::text is null or graph = $2::text)
      and ($3::text[] is null or state = any($3::text[]))
      and ($4::text is null or key = $4::text)
      and ($5::bigint is null or id = $5::bigint)
      and id > $6::bigint
    -- Not the id of the answer, which is text.
    order by unit.id
    limit $7::int`,
};

export interface UnitRow {
  readonly id: string;
  readonly graph: string;
  readonly key: string | null;
  readonly state: "queued" | "running" | "waiting" | "done" | "dead" | "cancelled";
  readonly payload: unknown;
  readonly priority: number;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly holder_label: string | null;
  readonly fence: string | null;
  readonly reason: string | null;
  readonly result: unknown;
  readonly waits_on: unknown;
  readonly run_ms: number;
  readonly submitted_ms: number;
  readonly started_ms: number | null;
  readonly finished_ms: number | null;
}

/** The unfinished units and dead letters of each graph, counted. It reads only. $1 app, $2 graph or null */
export const countBacklog: Statement = {
  text: `
    with counted as (
      select
        graph, state,
        count(*) filter (where run_at <= pg_catalog.statement_timestamp()) as due,
        count(*) as all_of_it,
        min(run_at) as first
      from sole_writer.unit
      where app = $1::text
        and ($2::text is null or graph = $2::text)
        and state = 'queued'
      group by graph, state
      union all
      select graph, state, 0, count(*), null from sole_writer.unit
      where app = $1::text
        and ($2::text is null or graph = $2::text)
        and state = 'running'
      group by graph, state
      union all
      select graph, state, 0, count(*), null from sole_writer.unit
      where app = $1::text
        and ($2::text is null or graph = $2::text)
        and state in ('waiting', 'dead')
      group by graph, state
    )
    select
      graph,
      sum(due)::float8 as due,
      coalesce(sum(all_of_it - due) filter (where state = 'queued'), 0)::float8 as scheduled,
      coalesce(sum(all_of_it) filter (where state = 'running'), 0)::float8 as running,
      coalesce(sum(all_of_it) filter (where state = 'waiting'), 0)::float8 as waiting,
      coalesce(sum(all_of_it) filter (where state = 'dead'), 0)::float8 as dead,
      case when sum(due) > 0 then
        ${inMs("pg_catalog.clock_timestamp()")} - ${inMs("min(first)")}
      end as oldest_due_ms
    from counted
    group by graph
    order by graph`,
};

export interface BacklogRow {
  readonly graph: string;
  readonly due: number;
  readonly scheduled: number;
  readonly running: number;
  readonly waiting: number;
  readonly dead: number;
  readonly oldest_due_ms: number | null;
}

/**
 * A command: one conditional update of the unit, looked at on its newest version, so that of several at a
 * time one changes it. The state is what is there when nothing was changed.
 */
function command(changed: string, before = ""): Statement {
  return {
    text: `
      with ${before} changed as (${changed})
      select
        exists (select from changed) as changed,
        coalesce(
          (select state from changed),
          (select state from sole_writer.unit where app = $1::text and id = $2::bigint)
        ) as state`,
  };
}

/** $1 app, $2 id */
export const retryUnit = command(`
  update sole_writer.unit set
    state = 'queued', attempt = 0, run_at = pg_catalog.statement_timestamp(),
    finished_at = null, remove_at = null
  where app = $1::text and id = $2::bigint and state in ('dead', 'cancelled')
  returning state`);

/**
 * The lane of a unit that runs is left with its holder, who learns of it by the next renewal and lets go
 * when the work has ended. $1 app, $2 id, $3 reason
 */
export const cancelUnit = command(
  `
  update sole_writer.unit as unit set
    state = 'cancelled', lease_id = null, reason = $3::text,
    finished_at = pg_catalog.clock_timestamp(),
    remove_at = pg_catalog.clock_timestamp() + ${msOf("unit.keep_ms")}
  from before
  where unit.id = before.id and unit.state in ('queued', 'running', 'waiting')
  returning unit.state`,
  `
  before as materialized (
    select id, lease_id from sole_writer.unit
    where app = $1::text and id = $2::bigint and state in ('queued', 'running', 'waiting')
    for update
  ),
  revoked as (
    update sole_writer.lease as lease set revocations = lease.revocations + 1
    from before where lease.id = before.lease_id
  ),`,
);

/** $1 app, $2 id */
export const discardUnit = command(`
  delete from sole_writer.unit
  where app = $1::text and id = $2::bigint and state in ('done', 'dead', 'cancelled')
  returning state`);

/** $1 app, $2 id, $3 the answer as JSON */
export const resumeUnit = command(`
  update sole_writer.unit set
    state = 'queued', run_at = pg_catalog.statement_timestamp(), waits_on = null,
    resumed = pg_catalog.jsonb_build_object('value', $3::jsonb)
  where app = $1::text and id = $2::bigint and state = 'waiting'
  returning state`);

export interface CommandRow {
  readonly changed: boolean;
  readonly state: UnitRow["state"] | null;
}

/**
 * Removes what was kept long enough, a batch at a time and oldest first. Rows that somebody has locked are
 * left for the next time, and no claim reads what it touches. $1 limit
 */
export const removeKept: Statement = {
  text: `
    with old as materialized (
      select id from sole_writer.unit
      where remove_at <= pg_catalog.statement_timestamp()
      order by remove_at
      limit $1::int
      for update skip locked
    )
    delete from sole_writer.unit as unit using old
    where unit.id = old.id and unit.state in ('done', 'cancelled')
    returning 1 as removed`,
};
