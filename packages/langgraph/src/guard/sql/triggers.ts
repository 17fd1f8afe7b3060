import type { GuardMode } from "../guard-mode.js";
import { guardedTables } from "./tables.js";

/**
 * Three triggers a table, so that the WHEN of each can say which row it is about: what is written, what is
 * deleted, and what is moved away from its thread. Before the row, so that nothing refused is ever there;
 * for each row, because a statement may write many threads.
 */
export function createTriggers(schema: string, mode: GuardMode): string {
  return onEach(
    schema,
    (table) => `
create trigger sole_writer_guard before insert or update on ${table} for each row
  when (pg_catalog.current_setting('sole_writer.passed', true) is distinct from (${literal(`${schema}:`)} || new.thread_id))
  execute function sole_writer.guard_checkpoint('${mode}', 'new');
create trigger sole_writer_guard_delete before delete on ${table} for each row
  when (pg_catalog.current_setting('sole_writer.passed', true) is distinct from (${literal(`${schema}:`)} || old.thread_id))
  execute function sole_writer.guard_checkpoint('${mode}', 'old');
create trigger sole_writer_guard_move before update on ${table} for each row
  when (old.thread_id is distinct from new.thread_id)
  execute function sole_writer.guard_checkpoint('${mode}', 'old');`,
  );
}

export function dropTriggers(schema: string): string {
  return onEach(
    schema,
    (table) => `
drop trigger if exists sole_writer_guard on ${table};
drop trigger if exists sole_writer_guard_delete on ${table};
drop trigger if exists sole_writer_guard_move on ${table};`,
  );
}

function onEach(schema: string, statements: (table: string) => string): string {
  return guardedTables
    .map((table) => statements(`${identifier(schema)}.${table}`).trim())
    .join("\n");
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Safe whatever \`standard_conforming_strings\` says. */
export function literal(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
