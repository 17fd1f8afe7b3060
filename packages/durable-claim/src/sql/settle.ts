import type { Statement } from "@sole-writer/postgres";
import { freeLane, isRunning, msOf, pauseMs } from "./fragments.js";

const isDone = "asked.kind = 'done'";
const isSpent = "(asked.kind = 'failed' and unit.attempt >= unit.max_attempts)";

/**
 * Records endings and gives the lanes free: of each claim, if it is still exactly this one (unit, fence,
 * lease), else nothing of it is changed.
 *
 * What makes it atomic: conditional updates, looked at again on the newest version of a row that somebody
 * changed meanwhile. An ending that comes after a sweep finds the unit no longer running, and the sweep that
 * comes after an ending likewise.
 *
 * A start was counted when it was claimed. Handed back and waiting take it off again: nothing went wrong.
 *
 * $1 app, and of the claims: $2 graph, $3 fence, $4 lease, $5 unit or null, $6 whether it has the lane,
 * $7 kind of ending, $8 reason or null, $9 result, or what is waited for, as JSON or null, $10 when to try
 * again or null, $11 window or null, $12 its time or null
 */
export const settleClaims: Statement = {
  name: "sole-writer-settle-claims",
  text: `
    with
      asked as materialized (
        select asked.*, $1::text as app
        from unnest(
          $2::text[], $3::bigint[], $4::uuid[], $5::bigint[], $6::bool[], $7::text[], $8::text[],
          $9::text[], $10::timestamptz[], $11::text[], $12::timestamptz[]
        ) with ordinality as asked (
          graph, fence, lease_id, unit_id, has_lane, kind, reason,
          value, retry_at, window_id, window_at, n
        )
      ),
      units as (
        update sole_writer.unit as unit set
          state = case
            when ${isDone} then 'done'
            when asked.kind = 'waiting' then 'waiting'
            when ${isSpent} then 'dead'
            else 'queued'
          end,
          attempt = case
            when asked.kind in ('handed-back', 'waiting') then unit.attempt - 1
            else unit.attempt
          end,
          run_at = case
            when asked.kind = 'failed' and not ${isSpent} then coalesce(
              asked.retry_at,
              pg_catalog.clock_timestamp() + ${msOf(pauseMs)}
            )
            else unit.run_at
          end,
          finished_at = case
            when ${isDone} or ${isSpent} then pg_catalog.clock_timestamp()
          end,
          remove_at = case
            when ${isDone} then pg_catalog.clock_timestamp() + ${msOf("unit.keep_ms")}
          end,
          reason = asked.reason,
          result = case when ${isDone} then asked.value::jsonb end,
          waits_on = case when asked.kind = 'waiting' then asked.value::jsonb end,
          resumed = case when asked.kind in ('done', 'waiting') then null else unit.resumed end,
          lease_id = null
        from asked
        where unit.id = asked.unit_id
          and ${isRunning("unit")}
          and unit.fence = asked.fence
          and unit.lease_id = asked.lease_id
        returning asked.n
      ),
      lanes as (
        update sole_writer.graph as lane set
          ${freeLane},
          last_done_at = case
            when ${isDone} then pg_catalog.clock_timestamp() else lane.last_done_at
          end,
          last_window = case
            when ${isDone} then coalesce(asked.window_id, lane.last_window) else lane.last_window
          end,
          last_window_at = case
            when ${isDone} and asked.window_id is not null then asked.window_at
            else lane.last_window_at
          end
        from asked
        where asked.has_lane
          and lane.app = asked.app
          and lane.graph = asked.graph
          and lane.fence = asked.fence
          and lane.lease_id = asked.lease_id
          and (
            asked.unit_id is null
            or exists (
              select from sole_writer.unit as own
              where own.id = asked.unit_id and ${isRunning("own")} and own.fence = asked.fence
            )
          )
        returning asked.n
      )
    select n::int as n, true as has_unit from units
    union all
    select n::int as n, false as has_unit from lanes`,
};

/** A place whose unit was ended, or whose lane was given free. */
export interface SettledRow {
  readonly n: number;
  readonly has_unit: boolean;
}

/**
 * Which endings are recorded, for a statement that was sent a second time because its first answer did not
 * come. A unit tells by its state and reason under the same fence; a sweep would have left another reason. A
 * lane that is free under the same fence was given free by its holder while the lease lives.
 *
 * $1 app, and of the claims: $2 graph, $3 fence, $4 lease, $5 unit or null, $6 kind of ending, $7 reason or
 * null
 */
export const wereSettled: Statement = {
  text: `
    select asked.n::int as n
    from (
      select given.*, $1::text as app
      from unnest($2::text[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[], $7::text[])
        with ordinality as given (graph, fence, lease_id, unit_id, kind, reason, n)
    ) as asked
    left join sole_writer.unit as unit on unit.id = asked.unit_id and unit.fence = asked.fence
    left join sole_writer.graph as lane
      on lane.app = asked.app and lane.graph = asked.graph and lane.fence = asked.fence
    left join sole_writer.lease as lease on lease.id = asked.lease_id and lease.ended_at is null
    where case
      when asked.unit_id is null then lane.lease_id is null and lane.graph is not null and lease.id is not null
      when asked.kind in ('done', 'waiting') then unit.state = asked.kind
      else unit.state in ('queued', 'dead') and unit.reason is not distinct from asked.reason
    end`,
};
