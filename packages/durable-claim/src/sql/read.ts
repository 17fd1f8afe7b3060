import type { Statement } from "@sole-writer/postgres";
import { inMs } from "./fragments.js";

/**
 * The graphs of an application, who has their lanes, or who began the newest of the units that run. It reads
 * only. $1 app, $2 graph or null
 */
export const readLanes: Statement = {
  text: `
    select
      lane.graph,
      greatest(lane.fence, running.fence)::text as fence,
      lane.last_window,
      ${inMs("lane.last_done_at")} as last_done_ms,
      coalesce(holder.holder_id, runner.holder_id) as holder_id,
      coalesce(holder.holder_label, runner.holder_label) as label,
      case when holder.id is not null then lane.fence else running.fence end::text as held_fence,
      ${inMs("case when holder.id is not null then lane.held_since else running.started_at end")}
        as since_ms,
      ${inMs("pg_catalog.clock_timestamp()")} as now_ms
    from sole_writer.graph as lane
    left join sole_writer.lease as holder
      on holder.id = lane.lease_id
      and holder.ended_at is null
      and holder.expires_at > pg_catalog.clock_timestamp()
    left join lateral (
      select unit.lease_id, unit.fence, unit.started_at
      from sole_writer.unit as unit
      where unit.app = lane.app and unit.graph = lane.graph and unit.state = 'running'
      order by unit.fence desc
      limit 1
    ) as running on true
    left join sole_writer.lease as runner
      on runner.id = running.lease_id
      and runner.ended_at is null
      and runner.expires_at > pg_catalog.clock_timestamp()
    where lane.app = $1::text and ($2::text is null or lane.graph = $2::text)
    order by lane.graph`,
};

export interface LaneRow {
  readonly graph: string;
  readonly fence: string;
  readonly last_window: string | null;
  readonly last_done_ms: number | null;
  readonly holder_id: string | null;
  readonly label: string | null;
  readonly held_fence: string | null;
  readonly since_ms: number | null;
  readonly now_ms: number;
}
