import { BackendError } from "@sole-writer/core";
import { postgresFault, stateOf } from "../faults.js";
import type { PostgresSession } from "../session.js";
import { assertSchemaName, defaultSchema, inSchema } from "./schema-name.js";
import { versions } from "./versions.js";

/**
 * "Create if not exists" is not safe when two sessions run it at the same moment, so all of it happens
 * under one lock of the transaction. The number is in the key space of single bigints, and far from the
 * pairs that graphs are locked by: the first eight bytes of "solewrit".
 */
const migrationLock = "8317986219828078964";

const versionNow = { text: "select max(version) as version from sole_writer.schema_version" };

/**
 * Brings the schema `sole_writer` to the version of this package. Any number of replicas may call it at
 * once; the first does the work and the others wait for it. A role that may not create anything is fine
 * when the schema is there.
 * @throws {BackendError} `BACKEND_SCHEMA` when the schema is missing and may not or shall not be made
 */
export async function ensureSchema(
  session: PostgresSession,
  options: { readonly create: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { create, signal } = options;
  const found = await versionOf(session, signal);
  if (found >= versions.length) return;
  if (!create)
    throw new BackendError(
      "BACKEND_SCHEMA",
      `The schema ${session.schema} is at version ${found}, and version ${versions.length} is needed. It is not made by itself because migrate is false: run what migrationSql() prints.`,
    );
  try {
    await migrate(session, signal);
  } catch (cause) {
    if (stateOf(cause) === "42501")
      throw new BackendError(
        "BACKEND_FORBIDDEN",
        `The schema ${session.schema} is at version ${found}, version ${versions.length} is needed, and this role may not make it. Run what migrationSql() prints as a role that may CREATE in this database, and grant this role USAGE on the schema and SELECT, INSERT, UPDATE on its tables.`,
        { cause },
      );
    throw cause;
  }
}

/**
 * The migration as a script for `psql`, for roles that may not create a schema themselves.
 * @param schema where the tables shall be
 * @param fromVersion the version that is there: `select max(version) from sole_writer.schema_version`
 */
export function migrationSql(fromVersion = 0, schema: string = defaultSchema): string {
  assertSchemaName("schema", schema);
  const script = [
    "begin;",
    `select pg_catalog.pg_advisory_xact_lock(${migrationLock});`,
    "create schema if not exists sole_writer;",
    versionTable,
    ...versions.flatMap((sql, index) =>
      index < fromVersion ? [] : [sql.trim(), record(index + 1)],
    ),
    "commit;",
    "",
  ].join("\n");
  return inSchema(script, schema);
}

const versionTable = `create table if not exists sole_writer.schema_version (
  version integer primary key,
  applied_at timestamptz not null default now()
);`;

function record(version: number): string {
  return `insert into sole_writer.schema_version (version) values (${version});`;
}

async function versionOf(session: PostgresSession, signal: AbortSignal): Promise<number> {
  try {
    const [row] = await session.run<{ version: number | null }>(versionNow, [], signal);
    return row?.version ?? 0;
  } catch (cause) {
    const state = stateOf(cause);
    if (state === "3F000" || state === "42P01") return 0;
    throw signal.aborted
      ? cause
      : postgresFault(cause, `Could not read the version of the schema ${session.schema}`);
  }
}

async function migrate(session: PostgresSession, signal: AbortSignal): Promise<void> {
  const run = (text: string) => session.run({ text }, [], signal);
  await run("begin");
  try {
    await run(`select pg_catalog.pg_advisory_xact_lock(${migrationLock})`);
    // CREATE SCHEMA asks for the right to create before it looks whether there is anything to do.
    const [at] = await session.run<{ there: boolean }>(
      { text: "select pg_catalog.to_regnamespace('sole_writer') is not null as there" },
      [],
      signal,
    );
    if (!at?.there) await run("create schema sole_writer");
    await run(versionTable);
    const [row] = await session.run<{ version: number | null }>(versionNow, [], signal);
    const done = row?.version ?? 0;
    for (const [index, sql] of versions.entries()) {
      if (index < done) continue;
      await run(sql);
      await run(record(index + 1));
    }
    await run("commit");
  } catch (cause) {
    // A session that was given up has no transaction any more.
    await run("rollback").catch(() => undefined);
    throw cause;
  }
}
