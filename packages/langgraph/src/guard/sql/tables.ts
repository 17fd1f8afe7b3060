/**
 * The fence of every thread that was ever entered. A row is never deleted, with its thread neither: without
 * it a writer that was superseded long ago would find nothing to be compared with.
 */
export const threadTable = `
create table if not exists sole_writer.thread (
  saver_schema text not null,
  thread_id text not null,
  graph text not null,
  fence bigint not null,
  holder_label text not null,
  entered_at timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (saver_schema, thread_id)
) with (fillfactor = 70);

comment on table sole_writer.thread is 'One row for each LangGraph thread that is guarded: the fence of whoever may write it.';
`;

/** The saver's tables with rows of a thread; its fourth one counts migrations. */
export const guardedTables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"] as const;
