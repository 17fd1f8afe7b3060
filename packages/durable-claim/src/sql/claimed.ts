import { inMs } from "./fragments.js";

/**
 * Writes down what `picked` has locked: the lane and the unit, under the same fence. $2 lease, $4 holder id,
 * $5 holder label
 */
export const claimed = `
  lanes as (
    update sole_writer.graph as row set
      fence = picked.fence,
      holder_id = $4::uuid,
      holder_label = $5::text,
      session_id = null,
      backend_pid = null,
      held_since = pg_catalog.clock_timestamp(),
      lease_id = $2::uuid,
      unit_id = picked.unit_id
    from picked
    where picked.has_lane and row.app = $1::text and row.graph = picked.graph
    returning row.graph, row.held_since
  ),
  units as (
    update sole_writer.unit as unit set
      state = 'running',
      attempt = unit.attempt + 1,
      fence = picked.fence,
      lease_id = $2::uuid,
      holder_label = $5::text,
      started_at = pg_catalog.clock_timestamp()
    from picked
    where unit.id = picked.unit_id
    returning
      unit.id, unit.key, unit.payload, unit.attempt, unit.max_attempts, unit.resumed,
      unit.started_at, unit.rank, unit.run_at
  )`;

/** The columns of a `ClaimedRow`, from `picked`, `lanes` and `units`. */
export const claimedColumns = `
  picked.graph,
  picked.fence::text as fence,
  ${inMs("coalesce(lanes.held_since, units.started_at)")} as since_ms,
  units.id::text as unit_id,
  units.key as unit_key,
  units.payload,
  units.attempt,
  units.max_attempts,
  units.resumed,
  units.rank,
  units.run_at::text as run_at`;

/** One claim, or its absence. `run_at` is text, because a JavaScript Date drops the microseconds. */
export type ClaimedRow =
  | { readonly fence: null }
  | ({ readonly graph: string; readonly fence: string; readonly since_ms: number } & (
      | { readonly unit_id: null }
      | ClaimedUnit
    ));

export interface ClaimedUnit {
  readonly unit_id: string;
  readonly unit_key: string | null;
  readonly payload: unknown;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly resumed: { readonly value: unknown } | null;
  readonly rank: number;
  readonly run_at: string;
}
