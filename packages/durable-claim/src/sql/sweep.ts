import type { Statement } from "@sole-writer/postgres";
import { freeLane, isRunning, vanished } from "./fragments.js";

/**
 * Ends leases that are over, in three steps that anybody may do at any time and any number of times.
 *
 *     endLeases ──▶ reclaim ──▶ forgetLeases
 *
 * What makes it safe: a lease is ended under its row lock, which a claim by that lease shares (`usableLease`)
 * and a renewal needs. So when `endLeases` has committed, no claim by it is under way and none will follow;
 * `reclaim` is a statement of its own, whose snapshot therefore sees all of them. It changes a unit or a
 * lane only while it points to an ended lease, looked at again on the newest version: what was finished in
 * between stays finished. Rows that somebody has locked are left for the next sweep; nobody waits.
 */
export const endLeases: Statement = {
  text: `
    with
      over as materialized (
        select id from sole_writer.lease
        where ended_at is null and expires_at <= pg_catalog.clock_timestamp()
        order by id
        limit 100
        for update skip locked
      ),
      ended as (
        update sole_writer.lease as lease set ended_at = pg_catalog.clock_timestamp()
        from over
        where lease.id = over.id
        returning lease.id
      )
    select id from ended
    union
    select id from sole_writer.lease where ended_at is not null
    union
    select lane.lease_id from sole_writer.graph as lane
    where lane.lease_id is not null
      and not exists (select from sole_writer.lease where lease.id = lane.lease_id)
    union
    select unit.lease_id from sole_writer.unit as unit
    where unit.state = 'running'
      and not exists (select from sole_writer.lease where lease.id = unit.lease_id)`,
};

/** $1 ended leases */
export const reclaim: Statement = {
  text: `
    with
      abandoned as materialized (
        select id from sole_writer.unit
        where state = 'running' and lease_id = any($1::uuid[])
        for update skip locked
      ),
      units as (
        update sole_writer.unit as unit set ${vanished}
        from abandoned
        where unit.id = abandoned.id
          and unit.state = 'running'
          and unit.lease_id = any($1::uuid[])
        returning unit.id
      ),
      left_lanes as materialized (
        select app, graph from sole_writer.graph
        where lease_id = any($1::uuid[])
        for update skip locked
      ),
      lanes as (
        update sole_writer.graph as lane set ${freeLane}
        from left_lanes
        where lane.app = left_lanes.app
          and lane.graph = left_lanes.graph
          and lane.lease_id = any($1::uuid[])
        returning lane.graph
      )
    select
      (select count(*)::int from units) as units,
      (select count(*)::int from lanes) as lanes`,
};

/** What a sweep gave free. */
export interface Reclaimed {
  readonly units: number;
  readonly lanes: number;
}

/** Removes ended leases that nothing points to. $1 ended leases */
export const forgetLeases: Statement = {
  text: `
    delete from sole_writer.lease as lease
    where lease.id = any($1::uuid[])
      and lease.ended_at is not null
      and not exists (
        select from sole_writer.unit where unit.state = 'running' and unit.lease_id = lease.id
      )
      and not exists (select from sole_writer.graph where graph.lease_id = lease.id)`,
};

/**
 * Gives free single claims whose run has ended without an ending that could be recorded, if they are still
 * exactly these. $1 app, and of the claims: $2 graph, $3 fence, $4 lease, $5 unit or null
 */
export const letGo: Statement = {
  text: `
    with
      asked as materialized (
        select * from unnest($2::text[], $3::bigint[], $4::uuid[], $5::bigint[])
          as asked (graph, fence, lease_id, unit_id)
      ),
      units as (
        update sole_writer.unit as unit set ${vanished}
        from asked
        where unit.id = asked.unit_id
          and ${isRunning("unit")}
          and unit.fence = asked.fence
          and unit.lease_id = asked.lease_id
      )
    update sole_writer.graph as lane set ${freeLane}
    from asked
    where lane.app = $1::text
      and lane.graph = asked.graph
      and lane.fence = asked.fence
      and lane.lease_id = asked.lease_id`,
};

/**
 * Gives back what was claimed by a statement whose answer never came: nobody was given it, so nothing was
 * started. $1 app, $2 lease, $3 fences of the claims by that lease that are known
 */
export const giveBackUnknown: Statement = {
  text: `
    with units as (
      update sole_writer.unit as unit set
        state = 'queued', attempt = unit.attempt - 1, lease_id = null
      where unit.state = 'running'
        and unit.lease_id = $2::uuid
        and unit.fence <> all($3::bigint[])
    )
    update sole_writer.graph as lane set ${freeLane}
    where lane.app = $1::text
      and lane.lease_id = $2::uuid
      and lane.fence <> all($3::bigint[])`,
};

/**
 * Ends a session of this process that was given up, and waits for up to a second until it is gone: what it
 * may still be doing is then done or undone. The name is compared, because process ids are used again.
 * $1 process id, $2 application_name
 */
export const endSession: Statement = {
  text: `
    select pg_catalog.pg_terminate_backend($1::int, 1000) as ended
    from pg_catalog.pg_stat_get_activity($1::int) as session
    where session.application_name = $2::text`,
};
