import type { Statement } from "@sole-writer/postgres";
import { serverMicros } from "./fragments.js";

/**
 * Stores units, all of them or none. A unit whose key is unfinished is not stored.
 *
 * What makes it atomic: the unique index over unfinished keys decides who is first. A key that another
 * transaction has just written and not committed is waited for, as by every unique index; so the rows are
 * written in the order of their keys, and two batches that meet cannot wait for each other.
 *
 * The ids are drawn in the order of the batch, so that it is the order of the units as well.
 *
 * $1 app, and of the units: $2 graph, $3 key or null, $4 payload as JSON, $5 run_at or null, $6 rank,
 * $7 max_attempts, $8 retry_first_ms, $9 retry_most_ms, $10 keep_ms; $11 a channel to notify, or null
 */
function submit(makesLanes: boolean): Statement {
  const lanes = `
      lanes as (
        insert into sole_writer.graph (app, graph, fence)
        select $1::text, wanted.graph, ${serverMicros}
        from (select distinct graph from asked) as wanted
        where not exists (
          select from sole_writer.graph as row where row.app = $1::text and row.graph = wanted.graph
        )
        order by wanted.graph
        on conflict do nothing
      ),`;
  return {
    name: `sole-writer-submit${makesLanes ? "" : "-inside"}`,
    text: `
    with
      asked as materialized (
        select nextval('sole_writer.unit_id_seq') as id, given.*
        from unnest(
          $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::int[], $7::int[],
          $8::bigint[], $9::bigint[], $10::bigint[]
        ) with ordinality as given (
          graph, key, payload, run_at, rank, max_attempts, retry_first_ms, retry_most_ms, keep_ms, n
        )
      ),${makesLanes ? lanes : ""}
      made as (
        insert into sole_writer.unit (
          id, app, graph, key, payload, run_at, rank, max_attempts,
          retry_first_ms, retry_most_ms, keep_ms
        ) overriding system value
        select
          id, $1::text, graph, key, payload::jsonb,
          coalesce(run_at, pg_catalog.statement_timestamp()), rank, max_attempts,
          retry_first_ms, retry_most_ms, keep_ms
        from asked
        order by graph, key, n
        on conflict (app, graph, key)
          where key is not null and state in ('queued', 'running', 'waiting')
          do nothing
        returning id
      )
    select id::text as id, 'drawn' as kind from asked
    union all
    select id::text as id, 'made' as kind from made
    union all
    select pg_catalog.pg_notify($11::text, '')::text as id, 'told' as kind
    where $11::text is not null`,
  };
}

/** On a session of ours; makes the lanes that are missing too. */
export const submitUnits = submit(true);

/**
 * Inside a transaction of somebody else, which may stay open for long: it makes no lanes, because everybody
 * who needs the same one would wait.
 */
export const submitUnitsInside = submit(false);

/** The ids that were drawn, in the order of the batch, and those of them under which a unit was stored. */
export interface SubmittedRow {
  readonly id: string;
  readonly kind: "drawn" | "made" | "told";
}

/** Unfinished units by their keys. $1 app, $2 graphs, $3 keys */
export const findByKey: Statement = {
  name: "sole-writer-find-by-key",
  text: `
    select there.id::text as id, asked.n::int as n
    from unnest($2::text[], $3::text[]) with ordinality as asked (graph, key, n)
    join sole_writer.unit as there
      on there.app = $1::text
      and there.graph = asked.graph
      and there.key = asked.key
      and there.state in ('queued', 'running', 'waiting')`,
};

export interface FoundRow {
  readonly id: string;
  readonly n: number;
}

/** $1 channel */
export const notify: Statement = {
  name: "sole-writer-notify",
  text: "select pg_catalog.pg_notify($1::text, '')",
};
