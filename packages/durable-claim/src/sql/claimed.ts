import { inMs } from "./fragments.js";

/**
 * Writes down what `picked` (n, app, graph, fence, unit_id, has_lane) has locked: the lane and the unit, under the
 * same fence. $2 lease, $4 holder id, $5 holder label
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
    where picked.has_lane and row.app = picked.app and row.graph = picked.graph
    returning picked.n, row.graph, row.fence, row.held_since
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
      picked.n, unit.graph, unit.fence, unit.id, unit.key, unit.payload, unit.attempt,
      unit.max_attempts, unit.resumed, unit.started_at
  )`;

/**
 * What was claimed, as rows of several kinds: joining them here would compare each with each. The caller
 * puts together what has the same n.
 */
export const claimedRows = `
  select 'lane' as kind, n::int as n, json_build_object(
    'graph', graph, 'fence', fence::text, 'sinceMs', ${inMs("held_since")}
  ) as body
  from lanes
  union all
  select 'unit' as kind, n::int as n, json_build_object(
    'graph', graph, 'fence', fence::text, 'sinceMs', ${inMs("started_at")}, 'id', id::text,
    'key', key, 'payload', payload, 'attempt', attempt, 'maxAttempts', max_attempts,
    'resumed', resumed
  ) as body
  from units`;

/** A lane that was claimed. */
export interface ClaimedLane {
  readonly graph: string;
  readonly fence: string;
  readonly sinceMs: number;
}

/** A unit that was claimed. */
export interface ClaimedUnit extends ClaimedLane {
  readonly id: string;
  readonly key: string | null;
  readonly payload: unknown;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly resumed: { readonly value: unknown } | null;
}

export type ClaimedRow =
  | { readonly kind: "lane"; readonly n: number; readonly body: ClaimedLane }
  | { readonly kind: "unit"; readonly n: number; readonly body: ClaimedUnit };

/** A lane, a unit, or both, in the order of n. */
export interface Claimed {
  readonly n: number;
  readonly lane?: ClaimedLane;
  readonly unit?: ClaimedUnit;
}

/** Puts the rows of a statement together. */
export function gatherClaims(rows: readonly ClaimedRow[]): readonly Claimed[] {
  const found = new Map<number, Claimed>();
  for (const { kind, n, body } of rows) found.set(n, { ...found.get(n), n, [kind]: body });
  return [...found.values()].sort((a, b) => a.n - b.n);
}
