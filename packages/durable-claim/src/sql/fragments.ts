/** Parts that several statements are made of. Each is an expression or a query, never a statement. */

/** The server's clock in microseconds since 1970: the least value of a new fence. */
export const serverMicros = "(extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint";

/** A time of the server as milliseconds since 1970; a fraction holds the microseconds. */
export const inMs = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`;

/** A number of milliseconds as an interval. */
export const msOf = (ms: string) => `(${ms}) * interval '1 millisecond'`;

/**
 * The lease of this process, if claims may be made by it: not ended, and with enough of its life left. The
 * row lock keeps it from being ended while the claim is under way; whoever ends it just now is not waited
 * for. $2 the lease, $3 the life in ms that must be left
 */
export const usableLease = `
  select id
  from sole_writer.lease
  where id = $2::uuid
    and ended_at is null
    and expires_at > pg_catalog.clock_timestamp() + ${msOf("$3::float8")}
  for key share skip locked`;

/**
 * Up to `most` units of a graph that are due, in order: priority, run_at, id, locked. A unit that somebody
 * else has locked is passed over.
 *
 * It goes from rank to rank, and in each begins at the first entry of the index: what is scheduled for
 * later costs one look for each rank, however much there is. To find a first entry, the entries of units
 * that are claimed or done and not vacuumed yet must be stepped over; so each is looked for once, and
 * `first` passes on one that is known. `statement_timestamp()` does not change within a statement, so that
 * the index can be entered by it. The row lock looks at the newest version: a unit that was claimed or
 * finished since the snapshot is not taken again.
 */
export function dueUnits(graph: string, most: string, first = firstQueued(graph)): string {
  return `
  select due.id, due.fence
  from (
    with recursive step (rank, run_at, id) as (
      (${first})
      union all
      select next.rank, next.run_at, next.id
      from step
      cross join lateral (${firstQueued(graph, "and queued.rank > step.rank")}) as next
    )
    select rank, run_at, id from step
  ) as entry
  cross join lateral (
    select queued.id, queued.fence
    from sole_writer.unit as queued
    where ${queuedOf(graph)}
      and queued.rank = entry.rank
      and (queued.run_at, queued.id) >= (entry.run_at, entry.id)
      and queued.run_at <= pg_catalog.statement_timestamp()
    order by queued.run_at, queued.id
    limit ${most}
    for update skip locked
  ) as due
  limit ${most}`;
}

const queuedOf = (graph: string) =>
  `queued.app = $1::text and queued.graph = ${graph} and queued.state = 'queued'`;

function firstQueued(graph: string, more = ""): string {
  return `
    select queued.rank, queued.run_at, queued.id
    from sole_writer.unit as queued
    where ${queuedOf(graph)} ${more}
    order by queued.rank, queued.run_at, queued.id
    limit 1`;
}

/**
 * Whether a unit runs, said so that the planner does not read the whole index of those that do: the unit is
 * known by its id. For the same reason the app comes from what is joined, and not from a parameter: the rows
 * of an application are no less than all of them.
 */
export const isRunning = (unit: string) => `(${unit}.state || '') = 'running'`;

/** What a lane looks like when nobody has it. */
export const freeLane = `
  lease_id = null, unit_id = null, holder_id = null, holder_label = null, held_since = null`;

/** The pause in ms before the next attempt: doubled from the first, capped, and a quarter more or less. */
export const pauseMs = `
  (least(
    unit.retry_first_ms * power(2::float8, least(unit.attempt, 40) - 1),
    unit.retry_most_ms
  ) * (0.75 + random() / 2))`;

/**
 * What becomes of a unit whose run ended without an ending: its worker vanished. The start has been counted,
 * so a unit that kills its process comes to an end.
 */
export const vanished = `
  state = case when unit.attempt >= unit.max_attempts then 'dead' else 'queued' end,
  run_at = case
    when unit.attempt >= unit.max_attempts then unit.run_at
    else pg_catalog.clock_timestamp() + ${msOf(pauseMs)}
  end,
  finished_at = case
    when unit.attempt >= unit.max_attempts then pg_catalog.clock_timestamp()
  end,
  reason = 'worker vanished: ' || coalesce(unit.holder_label, 'a replica')
    || ' ended or lost its lease during attempt ' || unit.attempt || ' of ' || unit.max_attempts,
  lease_id = null`;
