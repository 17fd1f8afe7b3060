import { guardVersion } from "./guard-version.js";

/**
 * Whether the transaction may write the thread.
 *
 * Atomic, because the check and the write are one transaction: a writer that has passed holds a lock of
 * the thread until it commits, shared with other writers, and whoever enters the thread takes it alone. So
 * a newcomer waits for the writes under way, and those that ask later see the new fence. It is an advisory
 * lock and none of a row: it is there for a thread that nobody has entered yet, it writes nothing, and
 * writers that share it cost no more than one.
 *
 * READ COMMITTED sees what was committed while it waited. An older snapshot does not: there the row is
 * locked as well, which fails when it has changed since; and where no row is seen, one is put in and taken
 * out again, because the unique index sees what the snapshot does not.
 * https://www.postgresql.org/docs/current/transaction-iso.html
 *
 * Locks and settings are written as expressions: as PERFORM each would be a query of its own.
 *
 * SW001: an older fence. SW002: no fence. SW003: a fence that has not entered the thread.
 */
const checkThread = `
create or replace function sole_writer.check_thread(saver_schema text, thread_id text, mode text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  carried constant bigint := nullif(current_setting('sole_writer.fence', true), '');
  entered record;
  is_entered boolean;
begin
  if current_setting('sole_writer.guard', true) = 'off' then return true; end if;
  if pg_advisory_xact_lock_shared(sole_writer.thread_key(saver_schema, thread_id)) is null then return null; end if;

  if current_setting('transaction_isolation') <> 'read committed' then
    perform from sole_writer.thread as t
    where t.saver_schema = check_thread.saver_schema and t.thread_id = check_thread.thread_id
    for share;
    if not found then
      begin
        insert into sole_writer.thread (saver_schema, thread_id, graph, fence, holder_label)
        values (saver_schema, thread_id, '', 0, '');
        delete from sole_writer.thread as t
        where t.saver_schema = check_thread.saver_schema and t.thread_id = check_thread.thread_id;
      exception when unique_violation then
        raise exception 'thread "%" was entered while this transaction was open', thread_id
          using errcode = '40001', hint = 'Roll back, and read the thread again.';
      end;
    end if;
  end if;

  select t.graph, t.fence, t.holder_label, t.entered_at into entered
  from sole_writer.thread as t
  where t.saver_schema = check_thread.saver_schema and t.thread_id = check_thread.thread_id;
  is_entered := found;

  if is_entered and carried is null then
    raise exception 'checkpoint write refused: thread "%" belongs to graph "%", and this transaction carries no fencing token',
        thread_id, entered.graph
      using errcode = 'SW002', schema = saver_schema,
        detail = format('Last entered by %s at %s with fence %s.', entered.holder_label, entered.entered_at, entered.fence),
        hint = format('Run graph "%s" as its sole writer: runGraph or withGrant of @sole-writer/langgraph; other languages acquire it, call sole_writer.enter_thread and SET LOCAL sole_writer.fence. To write on purpose as an operator: SET LOCAL sole_writer.guard = ''off''.', entered.graph);
  elsif is_entered and carried < entered.fence then
    raise exception 'checkpoint write refused: fence % is older than fence %, with which graph "%" entered thread "%"',
        carried, entered.fence, entered.graph, thread_id
      using errcode = 'SW001', schema = saver_schema,
        detail = format('Entered by %s at %s.', entered.holder_label, entered.entered_at),
        hint = 'A newer holder writes this thread. Stop this run; nothing of it was stored with this write.';
  elsif carried is not null and (not is_entered or carried > entered.fence) then
    raise exception 'checkpoint write refused: fence % has not entered thread "%"', carried, thread_id
      using errcode = 'SW003', schema = saver_schema,
        detail = case when is_entered
          then format('Graph "%s" entered it last, with fence %s.', entered.graph, entered.fence)
          else 'Nobody has entered it.' end,
        hint = 'Call sole_writer.enter_thread, then read the thread, then write it.';
  elsif not is_entered and mode = 'all' then
    raise exception 'checkpoint write refused: thread "%" was entered by no graph, and the guard of schema "%" is in mode "all"',
        thread_id, saver_schema
      using errcode = 'SW002', schema = saver_schema,
        hint = 'Run its graph as its sole writer: runGraph or withGrant of @sole-writer/langgraph. To write on purpose as an operator: SET LOCAL sole_writer.guard = ''off''.';
  end if;

  if set_config('sole_writer.passed', saver_schema || ':' || thread_id, true) is null then return null; end if;
  return true;
end
$$;
`;

/**
 * What a row must pass. A thread that has passed is remembered in a setting until the transaction ends, so
 * that its further rows cost 1 us each instead of 30. It has no rights of its own, and needs none for that:
 * a function that has them costs more to enter than this one does.
 *
 * A row that is moved is about the thread it leaves as well. One without a thread is left to the table's own
 * constraint. What is neither let through nor refused is an error: a trigger that returns nothing drops the
 * row without a word.
 */
const guardCheckpoint = `
create or replace function sole_writer.guard_checkpoint() returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' then
    if tg_op = 'UPDATE' and old.thread_id = new.thread_id then null;
    elsif pg_catalog.current_setting('sole_writer.passed', true) = tg_table_schema || ':' || old.thread_id
      or sole_writer.check_thread(tg_table_schema, old.thread_id, tg_argv[0]) then null;
    else raise exception 'the checkpoint guard could not decide about thread "%"', old.thread_id;
    end if;
    if tg_op = 'DELETE' then return old; end if;
  end if;
  if new.thread_id is null
    or pg_catalog.current_setting('sole_writer.passed', true) = tg_table_schema || ':' || new.thread_id
    or sole_writer.check_thread(tg_table_schema, new.thread_id, tg_argv[0])
  then return new; end if;
  raise exception 'the checkpoint guard could not decide about thread "%"', new.thread_id;
end
$$;
`;

/** Which advisory lock stands for a thread. In the key space of single bigints. */
const threadKey = `
create or replace function sole_writer.thread_key(saver_schema text, thread_id text) returns bigint
language sql immutable parallel safe
return pg_catalog.hashtextextended('sole_writer.thread ' || saver_schema || ' ' || thread_id, 0);
`;

/**
 * Raises the fence of a thread, before its first read.
 *
 * Atomic, because it holds the lock of the thread alone from before the fence is raised until that is
 * committed. The caller sets \`lock_timeout\`, and commits before it reads.
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

  perform pg_advisory_xact_lock(sole_writer.thread_key(saver_schema, thread_id));

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
${checkThread.trim()}
${guardCheckpoint.trim()}
comment on function sole_writer.guard_checkpoint() is 'version ${guardVersion}';
${enterThread.trim()}
`;
