import type { GuardMode } from "./guard-mode.js";
import { guardFunctions } from "./sql/guard-functions.js";
import { threadTable } from "./sql/tables.js";
import { createTriggers, dropTriggers } from "./sql/triggers.js";

/** The same lock under which the other tables of `sole_writer` are made: first eight bytes of "solewrit". */
const migrationLock = "8317986219828078964";

/** Waits for writes under way, and lets nobody queue behind it for longer than this. */
const lockTimeoutMs = 5_000;

/** What a step of the installation may leave out, because it is there. */
export interface GuardParts {
  /** The schema `sole_writer` is there: making it "if not exists" asks for a right that may be missing. */
  readonly hasSchema: boolean;
  /** The functions are there, and not older than ours. */
  readonly hasFunctions: boolean;
}

export function installSql(schema: string, mode: GuardMode, parts: GuardParts): string {
  return inTransaction(
    ...(parts.hasSchema ? [] : ["create schema if not exists sole_writer;"]),
    threadTable.trim(),
    ...(parts.hasFunctions ? [] : [guardFunctions.trim()]),
    dropTriggers(schema),
    createTriggers(schema, mode),
  );
}

export function removeSql(schema: string): string {
  return inTransaction(dropTriggers(schema));
}

function inTransaction(...statements: readonly string[]): string {
  return [
    "begin;",
    `set local lock_timeout = ${lockTimeoutMs};`,
    "set local client_min_messages = warning;",
    `select pg_catalog.pg_advisory_xact_lock(${migrationLock});`,
    ...statements,
    "commit;",
    "",
  ].join("\n");
}
