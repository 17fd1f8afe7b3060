import type { Statement } from "@sole-writer/postgres";
import { inMs, msOf } from "./fragments.js";

/** A new lease; its id has never been used. $1 app, $2 id, $3 holder id, $4 holder label, $5 life in ms */
export const openLease: Statement = {
  text: `
    insert into sole_writer.lease (app, id, holder_id, holder_label, expires_at)
    values ($1::text, $2::uuid, $3::uuid, $4::text,
      pg_catalog.clock_timestamp() + ${msOf("$5::float8")})`,
};

/**
 * Renews leases, however many claims there are under them: one update of a row each, conditional on the
 * newest version of the row. One that is over, or was found to be over, is never renewed again. The claims
 * named are looked at by the same statement, to learn what was taken from them one by one.
 *
 * $1 app, $2 leases, $3 life in ms, and of the claims to look at: $4 lease, $5 graph, $6 fence, $7 unit or
 * null, $8 whether it has the lane
 */
export const renewLeases: Statement = {
  name: "sole-writer-renew",
  text: `
    with beat as (
      update sole_writer.lease set
        expires_at = pg_catalog.clock_timestamp() + ${msOf("$3::float8")}
      where id = any($2::uuid[])
        and ended_at is null
        and expires_at > pg_catalog.clock_timestamp()
      returning id, revocations
    ),
    gone as (
      select claim.n
      from (
        select given.*, $1::text as app
        from unnest($4::uuid[], $5::text[], $6::bigint[], $7::bigint[], $8::bool[])
          with ordinality as given (lease_id, graph, fence, unit_id, has_lane, n)
      ) as claim
      left join sole_writer.graph as lane
        on lane.app = claim.app and lane.graph = claim.graph and claim.has_lane
      left join sole_writer.unit as unit on unit.id = claim.unit_id
      where not (
        (not claim.has_lane or (lane.lease_id = claim.lease_id and lane.fence = claim.fence) is true)
        and (
          claim.unit_id is null
          or (unit.state = 'running' and unit.lease_id = claim.lease_id and unit.fence = claim.fence)
            is true
        )
      )
    )
    select
      (select coalesce(json_agg(json_build_object('id', id, 'revocations', revocations)), '[]')
        from beat) as alive,
      array(select n::int from gone) as gone`,
};

/** The answer to `renewLeases`: the leases that live, and the places of the claims that do not. */
export interface RenewedRow {
  readonly alive: readonly { readonly id: string; readonly revocations: number }[];
  readonly gone: readonly number[];
}

/** Ends a lease under which nothing is held. $1 id */
export const closeLease: Statement = {
  text: `
    delete from sole_writer.lease
    where id = $1::uuid
      and not exists (select from sole_writer.graph where lease_id = $1::uuid)
      and not exists (select from sole_writer.unit where state = 'running' and lease_id = $1::uuid)`,
};

/** For `inspect` and messages. */
export const heldSinceMs = inMs("lane.held_since");
