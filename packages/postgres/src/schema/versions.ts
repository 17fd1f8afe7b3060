import { units } from "./units.js";

/**
 * The schema `sole_writer`, one version after another. A version that has been released is never edited;
 * what comes is added, and only ever adds: replicas of the version before go on working beside it.
 */
export const versions: readonly string[] = [
  `
create table sole_writer.graph (
  app text not null,
  graph text not null,
  -- Highest fence ever granted. The row is never deleted, or the fences would begin again.
  fence bigint not null,
  lock_key text,
  holder_id uuid,
  holder_label text,
  session_id text,
  backend_pid integer,
  held_since timestamptz,
  -- The last window that was settled as done; the time as well when the window is one.
  last_window text,
  last_window_at timestamptz,
  last_done_at timestamptz,
  primary key (app, graph)
) with (fillfactor = 50);

-- Finds the graph behind a key that two names share. The key of a row does not change with its holder,
-- so that updates touch no index.
create index graph_by_lock_key on sole_writer.graph (lock_key);

comment on table sole_writer.graph is 'One row for each graph: its fence, its holder, its last window.';
`,
  units,
];
