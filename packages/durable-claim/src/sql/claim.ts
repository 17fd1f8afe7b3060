import type { Statement } from "@sole-writer/postgres";
import { claimed, claimedRows } from "./claimed.js";
import { dueUnits, serverMicros, usableLease } from "./fragments.js";

/** The first queued unit of the first graph that fits. */
function nextGraph(pass: string, fits: string): string {
  return `(
        select queued.graph, queued.rank, queued.run_at, queued.id, ${pass} as pass
        from sole_writer.unit as queued
        where queued.app = $1::text and queued.state = 'queued' and ${fits}
        order by queued.graph, queued.rank, queued.run_at, queued.id
        limit 1
      )`;
}

/** The graphs in the order they are tried: from the one after $6 on, and round to it. */
const everyGraph = `
  scan (graph, rank, run_at, id, pass) as (
    select first.*
    from mine
    cross join lateral (
      ${nextGraph("0", "queued.graph > $6::text")}
      union all
      ${nextGraph("1", "queued.graph <= $6::text")}
      limit 1
    ) as first
    union all
    select next.*
    from scan
    cross join lateral (
      ${nextGraph(
        "scan.pass",
        "queued.graph > scan.graph and (scan.pass = 0 or queued.graph <= $6::text)",
      )}
      union all
      ${nextGraph("1", "scan.pass = 0 and queued.graph <= $6::text")}
      limit 1
    ) as next
  )`;

const firstOfScan = "select scan.rank, scan.run_at, scan.id";

const namedGraphs = `
  scan (graph, rank, run_at, id) as (
    select named.graph, first.rank, first.run_at, first.id
    from mine
    cross join (
      select graph from unnest($9::text[]) as named (graph)
      group by graph
      order by graph <= $6::text, graph
    ) as named
    cross join lateral ${nextGraph("0", "queued.graph = named.graph")} as first
  )`;

/** One writer for each graph: its lane, and its first unit. */
const byLane = `
  select lane.graph, lane.fence, due.id as unit_id, true as has_lane
  from scan
  cross join lateral (
    select row.graph, greatest(row.fence + 1, ${serverMicros}) as fence
    from sole_writer.graph as row
    where row.app = $1::text
      and row.graph = scan.graph
      and row.lease_id is null
      and row.graph <> all($8::text[])
    for update skip locked
  ) as lane
  cross join lateral (${dueUnits("lane.graph", "1", firstOfScan)}) as due
  limit $7::int`;

/** One writer for each unit. */
const byUnit = `
  select
    scan.graph,
    greatest(due.fence + 1, (
      select row.fence + 1 from sole_writer.graph as row
      where row.app = $1::text and row.graph = scan.graph
    ), ${serverMicros}) as fence,
    due.id as unit_id,
    false as has_lane
  from scan
  cross join lateral (${dueUnits("scan.graph", "$7::int", firstOfScan)}) as due
  where scan.graph <> all($8::text[])
  limit $7::int`;

/**
 * One writer for each unit, and at most $10 units of a graph at a time. The room that is left is counted
 * with the row of the graph locked, and only when no claim has changed that row since the snapshot: the
 * count would then be of the past. Such a graph is passed over this time.
 */
const byUnitWithRoom = `
  select
    lane.graph,
    lane.fence + due.place - 1 as fence,
    due.id as unit_id,
    false as has_lane
  from (
    select locked.graph, locked.fence, locked.room, scan.rank, scan.run_at, scan.id
    from scan
    cross join lateral (
      select
        row.graph,
        greatest(row.fence + 1, ${serverMicros}) as fence,
        $10::int - (
          select count(*)::int from sole_writer.unit as running
          where running.app = $1::text and running.graph = row.graph and running.state = 'running'
        ) as room
      from sole_writer.graph as row
      join sole_writer.graph as before
        on before.app = row.app and before.graph = row.graph and before.fence = row.fence
      where row.app = $1::text
        and row.graph = scan.graph
        and row.graph <> all($8::text[])
      for update of row skip locked
    ) as locked
    where locked.room > 0
  ) as lane
  cross join lateral (
    select found.id, row_number() over () as place
    from (${dueUnits("lane.graph", "greatest(lane.room, 0)", "select lane.rank, lane.run_at, lane.id")}) as found
  ) as due
  limit $7::int`;

/** The row of the graph changes with each claim that counted its room. */
const countedLanes = `
  counted as (
    update sole_writer.graph as row set fence = top.fence
    from (select graph, max(fence) as fence from picked group by graph) as top
    where row.app = $1::text and row.graph = top.graph
  )`;

/**
 * Claims up to $7 units that are due, of whatever graph.
 *
 * What makes it atomic: as in `takeLanes`, lane and unit are locked with SKIP LOCKED in their newest
 * version, and written by the same statement; a claim waits for nobody, and of any number of claims one
 * gets a unit.
 *
 * What keeps it cheap: it goes from graph to graph by the index of queued units, and stops when it has
 * enough. What is done, running or waiting is not in that index. It begins after the graph where the last
 * claim of this process ended, so that no graph is starved by those before it in the alphabet.
 *
 * $1 app, $2 lease, $3 life in ms that must be left of it, $4 holder id, $5 holder label, $6 the graph to
 * begin after, $7 limit, $8 graphs to leave out, $9 the graphs, where they are named, and $10 most units of
 * a graph at a time, where there is a most
 */
function claim(kind: ClaimKind): Statement {
  const picked = { graph: byLane, unit: byUnit, "unit-with-room": byUnitWithRoom }[kind.exclusive];
  const counts = kind.exclusive === "unit-with-room" ? `,${countedLanes}` : "";
  // A parameter that no part of the statement mentions has no type, so each is mentioned here.
  return {
    name: `sole-writer-claim-${kind.exclusive}-${kind.graphs}`,
    text: `
      with recursive
        mine as materialized (${usableLease}),
        ${kind.graphs === "every" ? everyGraph : namedGraphs},
        picked as materialized (
          select taken.*, $1::text as app, row_number() over () as n from (${picked}) as taken
        ),
        ${claimed}${counts}
      ${claimedRows}
      union all
      select 'fact' as kind, 0 as n, json_build_object(
        'hasLease', exists (select from mine),
        'hasOver', exists (
          select from sole_writer.lease
          where ended_at is not null or expires_at <= pg_catalog.statement_timestamp()
        ),
        'given', $9::text[] is null or $10::int is null
      ) as body`,
  };
}

export interface ClaimKind {
  readonly exclusive: "graph" | "unit" | "unit-with-room";
  readonly graphs: "every" | "named";
}

const statements = new Map<string, Statement>();

/** The statement for a kind of claim; always the same object for the same kind. */
export function claimUnits(kind: ClaimKind): Statement {
  const name = `${kind.exclusive}-${kind.graphs}`;
  const made = statements.get(name) ?? claim(kind);
  statements.set(name, made);
  return made;
}

/** What the answer says beside the claims. */
export interface ClaimFacts {
  readonly hasLease: boolean;
  /** A lease is over, and what was claimed by it can be had again after a sweep. */
  readonly hasOver: boolean;
}

export interface ClaimFactRow {
  readonly kind: "fact";
  readonly n: number;
  readonly body: ClaimFacts;
}
