/**
 * Version 2: units, and the leases under which they are claimed.
 *
 * - The row of a graph is its lane: whoever has the lane runs the graph. It points to a lease, and is free
 *   when it points to none.
 * - A lease is one row for each process, renewed by one update, however many claims point to it.
 * - The indexes of `unit` are partial, each for one question, so that what is done costs a claim nothing.
 *   `rank` is the negative priority: every index is then read in one direction.
 */
export const units = `
create table sole_writer.lease (
  id uuid primary key,
  app text not null,
  holder_id uuid not null,
  holder_label text not null,
  expires_at timestamptz not null,
  -- Set when it was found to be over. Nobody can renew it or claim by it from then on.
  ended_at timestamptz,
  -- How often something was taken from it behind its holder's back; a change is a reason to look.
  revocations integer not null default 0
) with (fillfactor = 50);

comment on table sole_writer.lease is 'One row for each process that claims; its claims live as long as it.';

alter table sole_writer.graph
  add column lease_id uuid,
  add column unit_id bigint;

comment on column sole_writer.graph.lease_id is 'The lane: null when nobody runs the graph by a lease.';

create table sole_writer.unit (
  id bigint generated always as identity primary key,
  app text not null,
  graph text not null,
  key text,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'waiting', 'done', 'dead', 'cancelled')),
  rank integer not null default 0,
  run_at timestamptz not null default now(),
  payload jsonb,
  -- Starts that count: a hand-back takes its own off again.
  attempt integer not null default 0,
  max_attempts integer not null,
  -- The pause after a failure: doubled from the first, never more than the most.
  retry_first_ms bigint not null,
  retry_most_ms bigint not null,
  -- For how long it is kept when it is done or cancelled; null for ever.
  keep_ms bigint,
  fence bigint,
  lease_id uuid,
  holder_label text,
  submitted_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  remove_at timestamptz,
  reason text,
  result jsonb,
  waits_on jsonb,
  resumed jsonb,
  check ((state = 'running') = (lease_id is not null))
) with (fillfactor = 70);

-- The next unit of a graph, and the next graph that has one.
create index unit_queued on sole_writer.unit (app, graph, rank, run_at, id) where state = 'queued';
-- What is under way, and by which lease.
create index unit_running on sole_writer.unit (app, graph, lease_id) where state = 'running';
-- What people look for.
create index unit_stopped on sole_writer.unit (app, graph, state) where state in ('waiting', 'dead');
-- One unfinished unit for each key.
create unique index unit_key on sole_writer.unit (app, graph, key)
  where key is not null and state in ('queued', 'running', 'waiting');
-- What is kept long enough.
create index unit_removable on sole_writer.unit (remove_at) where remove_at is not null;

comment on table sole_writer.unit is 'One row for each durable piece of work.';
`;
