import type { GuardMode } from "../guard-mode.js";
import { guardedTables } from "./tables.js";

/**
 * Before the row, so that nothing refused is ever there; for each row, because a statement may write many
 * threads. No WHEN: it is prepared anew for each statement, which costs more than the call it saves.
 */
export function createTriggers(schema: string, mode: GuardMode): string {
  return onEach(
    schema,
    (table) => `
create trigger ${triggerName} before insert or update or delete on ${table} for each row
  execute function sole_writer.guard_checkpoint('${mode}');`,
  );
}

export function dropTriggers(schema: string): string {
  return onEach(schema, (table) => `drop trigger if exists ${triggerName} on ${table};`);
}

export const triggerName = "sole_writer_guard";

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
