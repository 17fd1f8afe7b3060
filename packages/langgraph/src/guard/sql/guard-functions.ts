import { guardVersion } from "./guard-version.js";

/**
 * What a row of a checkpoint must pass.
 *
 * Atomic, because the check and the write are one transaction: the row of the thread is locked FOR SHARE
 * until the writer commits, and whoever enters the thread updates that row, so it waits for writers that
 * have passed and turns away those that have not. A thread without a row has nothing to lock; there an
 * advisory lock of the transaction stands in, shared by writers and exclusive for the first who enters.
 *
 * A lock waits for a writer that commits meanwhile, and READ COMMITTED then reads anew. A snapshot that is
 * older than the wait does not see the new row, but the unique index does: hence the row that is put in
 * and taken out again. https://www.postgresql.org/docs/current/transaction-iso.html
 *
 * A thread that has passed is remembered until the end of the transaction, in a setting that the WHEN of
 * the trigger reads: 1 us for each further row instead of 30.
 *
 * SW001: an older fence. SW002: no fence. SW003: a fence that has not entered the thread.
 */
const guardCheckpoint = `
create or replace function sole_writer.guard_checkpoint() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  mode constant text := tg_argv[0];
  written constant text := case when tg_argv[1] = 'old' then old.thread_id else new.thread_id end;
  carried constant bigint := nullif(current_setting('sole_writer.fence', true), '');
  entered record;
  is_entered boolean;
begin
  if current_setting('sole_writer.guard', true) is distinct from 'off' then
    select t.graph, t.fence, t.holder_label, t.entered_at into entered
    from sole_writer.thread as t
    where t.saver_schema = tg_table_schema and t.thread_id = written
    for share;
    is_entered := found;

    if not is_entered then
      perform pg_advisory_xact_lock_shared(sole_writer.thread_key(tg_table_schema, written));
      if current_setting('transaction_isolation') <> 'read committed' then
        begin
          insert into sole_writer.thread (saver_schema, thread_id, graph, fence, holder_label)
          values (tg_table_schema, written, '', 0, '');
          delete from sole_writer.thread where saver_schema = tg_table_schema and thread_id = written;
        exception when unique_violation then
          raise exception 'thread "%" was entered while this transaction was open', written
            using errcode = '40001', hint = 'Roll back, and read the thread again.';
        end;
      end if;
      select t.graph, t.fence, t.holder_label, t.entered_at into entered
      from sole_writer.thread as t
      where t.saver_schema = tg_table_schema and t.thread_id = written
      for share;
      is_entered := found;
    end if;

    if is_entered and carried is null then
      raise exception 'checkpoint write refused: thread "%" belongs to graph "%", and this transaction carries no fencing token',
          written, entered.graph
        using errcode = 'SW002', schema = tg_table_schema, table = tg_table_name,
          detail = format('Last entered by %s at %s with fence %s.', entered.holder_label, entered.entered_at, entered.fence),
          hint = format('Run graph "%s" as its sole writer: runGraph or withGrant of @sole-writer/langgraph; other languages acquire it, call sole_writer.enter_thread and SET LOCAL sole_writer.fence. To write on purpose as an operator: SET LOCAL sole_writer.guard = ''off''.', entered.graph);
    elsif is_entered and carried < entered.fence then
      raise exception 'checkpoint write refused: fence % is older than fence %, with which graph "%" entered thread "%"',
          carried, entered.fence, entered.graph, written
        using errcode = 'SW001', schema = tg_table_schema, table = tg_table_name,
          detail = format('Entered by %s at %s.', entered.holder_label, entered.entered_at),
          hint = 'A newer holder writes this thread. Stop this run; nothing of it was stored with this write.';
    elsif carried is not null and (not is_entered or carried > entered.fence) then
      raise exception 'checkpoint write refused: fence % has not entered thread "%"', carried, written
        using errcode = 'SW003', schema = tg_table_schema, table = tg_table_name,
          detail = case when is_entered
            then format('Graph "%s" entered it last, with fence %s.', entered.graph, entered.fence)
            else 'Nobody has entered it.' end,
          hint = 'Call sole_writer.enter_thread, then read the thread, then write it.';
    elsif not is_entered and mode = 'all' then
      raise exception 'checkpoint write refused: thread "%" was entered by no graph, and the guard of schema "%" is in mode "all"',
          written, tg_table_schema
        using errcode = 'SW002', schema = tg_table_schema, table = tg_table_name,
          hint = 'Run its graph as its sole writer: runGraph or withGrant of @sole-writer/langgraph. To write on purpose as an operator: SET LOCAL sole_writer.guard = ''off''.';
    end if;

    perform set_config('sole_writer.passed', tg_table_schema || ':' || written, true);
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end
$$;
`;

/** Which advisory lock stands for a thread without a row. In the key space of single bigints. */
const threadKey = `
create or replace function sole_writer.thread_key(saver_schema text, thread_id text) returns bigint
language sql immutable parallel safe
return pg_catalog.hashtextextended('sole_writer.thread ' || saver_schema || ' ' || thread_id, 0);
`;

/**
 * Raises the fence of a thread, before its first read.
 *
 * Atomic, because it is one upsert of the row that every write of the thread has locked FOR SHARE: it
 * waits for the writes under way, and those that come later see the new fence. The caller sets
 * \`lock_timeout\`, and commits before it reads.
 *
 * SW001: somebody entered with a higher fence. SW004: the guard does not watch the tables of this schema.
 */
const enterThread = `
create or replace function sole_writer.enter_thread(
  saver_schema text, thread_id text, fence bigint, graph text, holder_label text
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  known record;
begin
  if (
    select count(*) <> 3 from pg_trigger as g
    where g.tgname = 'sole_writer_guard' and g.tgenabled <> 'D'
      and g.tgrelid in (
        to_regclass(format('%I.checkpoints', saver_schema)),
        to_regclass(format('%I.checkpoint_blobs', saver_schema)),
        to_regclass(format('%I.checkpoint_writes', saver_schema)))
  ) then
    raise exception 'the checkpoint guard does not watch the tables of schema "%"', saver_schema
      using errcode = 'SW004',
        hint = 'Call installCheckpointGuard, or the setup() of fencedPostgresSaver.';
  end if;

  perform from sole_writer.thread as t
  where t.saver_schema = enter_thread.saver_schema and t.thread_id = enter_thread.thread_id;
  if not found then
    perform pg_advisory_xact_lock(sole_writer.thread_key(saver_schema, thread_id));
  end if;

  insert into sole_writer.thread as t (saver_schema, thread_id, graph, fence, holder_label)
  values (saver_schema, thread_id, graph, fence, holder_label)
  on conflict on constraint thread_pkey do update
    set fence = excluded.fence, graph = excluded.graph, holder_label = excluded.holder_label,
      entered_at = clock_timestamp()
    where t.fence < excluded.fence;
  if found then return; end if;

  select t.fence, t.graph, t.holder_label, t.entered_at into known
  from sole_writer.thread as t
  where t.saver_schema = enter_thread.saver_schema and t.thread_id = enter_thread.thread_id;
  if known.fence <> enter_thread.fence or known.graph <> enter_thread.graph then
    raise exception 'fence % of graph "%" may not enter thread "%": graph "%" entered it with fence %',
        fence, graph, thread_id, known.graph, known.fence
      using errcode = 'SW001',
        detail = format('Entered by %s at %s.', known.holder_label, known.entered_at),
        hint = 'A newer holder writes this thread. Stop this run.';
  end if;
end
$$;
`;

export const guardFunctions = `
${threadKey.trim()}
${guardCheckpoint.trim()}
comment on function sole_writer.guard_checkpoint() is 'version ${guardVersion}';
${enterThread.trim()}
`;
