import type { Statement } from "@sole-writer/postgres";
import { claimed, claimedRows } from "./claimed.js";
import { dueUnits, inMs, serverMicros, usableLease } from "./fragments.js";

/**
 * The rule of core's `windowHasRun`, and that of `minIntervalMs`, over a row of `sole_writer.graph`. A row
 * that is locked is looked at in its newest version.
 */
const hasRun = (row: string) => `coalesce(
  ${row}.last_window = asked.window_id
  or asked.window_at <= ${row}.last_window_at
  or ${row}.last_done_at
    > pg_catalog.clock_timestamp() - asked.interval_ms * interval '1 millisecond',
  false)`;

/**
 * Takes the lanes of graphs by name, each with the next unit that is due where one is wanted, and says of
 * every other graph who has it.
 *
 * What makes it atomic: the row of the graph is the lane, and it is locked here with SKIP LOCKED, in its
 * newest version and only when nobody has it. So of any number of replicas one gets it, and none waits.
 * Fence, lane and unit are written by the same statement. The lease is locked against being ended meanwhile.
 * `picked` is materialised: whatever the planner does, every lane and every unit is locked once.
 *
 * $1 app, $2 lease, $3 life in ms that must be left of it, $4 holder id, $5 holder label, and of the
 * questions: $6 graph, $7 window or null, $8 its time or null, $9 minIntervalMs or null, $10 whether a unit
 * is wanted
 */
export const takeLanes: Statement = {
  name: "sole-writer-take-lanes",
  text: `
    with
      mine as materialized (${usableLease}),
      asked as materialized (
        select asked.*, $1::text as app
        from unnest($6::text[], $7::text[], $8::timestamptz[], $9::float8[], $10::bool[])
          with ordinality as asked (graph, window_id, window_at, interval_ms, wants_unit, n)
      ),
      picked as materialized (
        select asked.n, asked.app, lane.graph, lane.fence, due.id as unit_id, true as has_lane
        from mine
        cross join asked
        cross join lateral (
          select row.graph, greatest(row.fence + 1, ${serverMicros}) as fence
          from sole_writer.graph as row
          where row.app = asked.app
            and row.graph = asked.graph
            and row.lease_id is null
            and not ${hasRun("row")}
          for update skip locked
        ) as lane
        left join lateral (${dueUnits("asked.graph", "1")}) as due on asked.wants_unit
      ),
      ${claimed}
    ${claimedRows}
    union all
    select 'fact' as kind, asked.n::int as n, json_build_object(
      'hasLease', exists (select from mine),
      'isKnown', row.graph is not null,
      'hasRun', coalesce(${hasRun("row")}, false),
      'heldBy', case when row.lease_id is not null then json_build_object(
        'id', row.holder_id,
        'label', row.holder_label,
        'fence', row.fence::text,
        'sinceMs', ${inMs("row.held_since")},
        'isOver', (lease.ended_at is null and lease.expires_at > pg_catalog.clock_timestamp())
          is not true
      ) end
    ) as body
    from asked
    left join sole_writer.graph as row on row.app = asked.app and row.graph = asked.graph
    left join sole_writer.lease as lease on lease.id = row.lease_id`,
};

/** What a snapshot from before the statement says of a graph that was asked for. */
export interface TakeFacts {
  readonly hasLease: boolean;
  readonly isKnown: boolean;
  readonly hasRun: boolean;
  readonly heldBy: LaneHolder | null;
}

export interface TakeFactRow {
  readonly kind: "fact";
  readonly n: number;
  readonly body: TakeFacts;
}

/** Who has a lane, as far as the snapshot of the statement knows. */
export interface LaneHolder {
  readonly id: string;
  readonly label: string;
  readonly fence: string;
  readonly sinceMs: number;
  /** Its lease is over, and nobody has swept it yet. */
  readonly isOver: boolean;
}

/**
 * Makes the rows of graphs that have none, so that there are lanes to take. The fence of a row that was
 * never granted is the time it was made. $1 app, $2 graphs
 */
export const makeLanes: Statement = {
  name: "sole-writer-make-lanes",
  text: `
    insert into sole_writer.graph (app, graph, fence)
    select $1::text, wanted.graph, ${serverMicros}
    from (select distinct graph from unnest($2::text[]) as named (graph)) as wanted
    where not exists (
      select from sole_writer.graph as row where row.app = $1::text and row.graph = wanted.graph
    )
    order by wanted.graph
    on conflict do nothing`,
};

/**
 * Makes the lanes that are missing of graphs with queued units, as after a restore of half a backup. It
 * steps from graph to graph. $1 app
 */
export const repairLanes: Statement = {
  name: "sole-writer-repair-lanes",
  text: `
    with recursive step (graph) as (
      (
        select queued.graph from sole_writer.unit as queued
        where queued.app = $1::text and queued.state = 'queued' order by queued.graph limit 1
      )
      union all
      select (
        select queued.graph from sole_writer.unit as queued
        where queued.app = $1::text and queued.state = 'queued' and queued.graph > step.graph
        order by queued.graph limit 1
      )
      from step where step.graph is not null
    )
    insert into sole_writer.graph (app, graph, fence)
    select $1::text, step.graph, ${serverMicros}
    from step
    where step.graph is not null
      and not exists (
        select from sole_writer.graph as row where row.app = $1::text and row.graph = step.graph
      )
    on conflict do nothing`,
};
