import { BackendError } from "@sole-writer/core";
import { postgresFault, stateOf } from "@sole-writer/postgres";
import type { Pool, PoolClient } from "pg";
import type { GuardMode } from "./guard-mode.js";
import { checkGuardOptions, type GuardOptions, type GuardPlace } from "./guard-options.js";
import { installSql, removeSql } from "./guard-sql.js";
import { guardVersion } from "./sql/guard-version.js";
import { guardPartsSql, guardStatusSql } from "./sql/status.js";
import { guardedTables } from "./sql/tables.js";
import { triggerName } from "./sql/triggers.js";

/**
 * Whether PostgreSQL itself refuses checkpoints of superseded and unfenced writers.
 * `partial`: some of the triggers are missing or disabled, for instance since a table was made anew;
 * install it again.
 */
export type GuardStatus = { readonly schema: string } & (
  | { readonly state: "no-tables"; readonly missingTables: readonly string[] }
  | { readonly state: "absent" }
  | { readonly state: "partial"; readonly missingTriggers: readonly string[] }
  | { readonly state: "installed"; readonly mode: GuardMode; readonly version: number }
);

/**
 * Puts triggers on the tables of a `PostgresSaver`. From then on PostgreSQL refuses what was written to a
 * guarded thread with no fencing token (SQLSTATE SW002), with an older one (SW001), or with one that has
 * not entered the thread (SW003), whoever writes it and in whatever language.
 *
 * Any number of replicas may call it at once, and again at every start: what is there is left alone, and
 * another mode replaces the one before. It waits at most 5,000 ms for writes under way. The role must own
 * the tables.
 * @throws {BackendError} `BACKEND_SCHEMA` when the saver's tables are not there yet, `BACKEND_FORBIDDEN`
 * when the role may not create triggers: then run what {@link checkpointGuardSql} returns.
 * @throws {InvalidOptionError} for options that make no sense.
 */
export async function installCheckpointGuard(
  pool: Pool,
  options: GuardOptions = {},
): Promise<GuardStatus> {
  const { schema, mode } = checkGuardOptions(options);
  return await withClient(
    pool,
    `install the checkpoint guard in schema "${schema}"`,
    async (client) => {
      const before = await statusOf(client, schema);
      if (before.state === "no-tables")
        throw new BackendError(
          "BACKEND_SCHEMA",
          `Could not install the checkpoint guard: schema "${schema}" has no ${before.missingTables.join(", ")}. Call setup() of the saver first.`,
        );
      if (before.state === "installed" && before.mode === mode && before.version >= guardVersion)
        return before;
      const parts = await partsOf(client);
      await client.query(
        installSql(schema, mode, {
          hasSchema: parts.hasSchema,
          hasFunctions: parts.version >= guardVersion,
        }),
      );
      return await statusOf(client, schema);
    },
  );
}

/**
 * Takes the triggers off again; the saver's tables are as they were. The fences of the threads stay, so
 * that a guard that is installed later still knows them.
 * @throws {BackendError} when PostgreSQL could not be asked, or the role does not own the tables.
 */
export async function removeCheckpointGuard(pool: Pool, place: GuardPlace = {}): Promise<void> {
  const { schema } = checkGuardOptions(place);
  await withClient(pool, `remove the checkpoint guard from schema "${schema}"`, async (client) => {
    const { state } = await statusOf(client, schema);
    if (state === "installed" || state === "partial") await client.query(removeSql(schema));
  });
}

/**
 * Looks at the catalogs whether the guard is there, whole, and of which mode.
 * @throws {BackendError} when PostgreSQL could not be asked.
 */
export async function checkpointGuardStatus(
  pool: Pool,
  place: GuardPlace = {},
): Promise<GuardStatus> {
  const { schema } = checkGuardOptions(place);
  return await withClient(pool, `read the checkpoint guard of schema "${schema}"`, (client) =>
    statusOf(client, schema),
  );
}

/**
 * What {@link installCheckpointGuard} does, as a script for `psql`, for tables that another role owns.
 * @throws {InvalidOptionError} for options that make no sense.
 */
export function checkpointGuardSql(options: GuardOptions = {}): string {
  const { schema, mode } = checkGuardOptions(options);
  return installSql(schema, mode, { hasSchema: false, hasFunctions: false });
}

async function statusOf(client: PoolClient, schema: string): Promise<GuardStatus> {
  const { rows } = await client.query<{
    table: string;
    is_there: boolean;
    is_watched: boolean;
    mode: string | null;
  }>(guardStatusSql, [schema, guardedTables]);
  const missingTables = rows.filter((row) => !row.is_there).map((row) => row.table);
  if (missingTables.length > 0) return { schema, state: "no-tables", missingTables };
  const missingTriggers = rows
    .filter((row) => !row.is_watched)
    .map(({ table }) => `${triggerName} on ${table}`);
  if (rows.every((row) => row.mode === null)) return { schema, state: "absent" };
  const [mode, ...others] = new Set(rows.map((row) => row.mode));
  const { version } = await partsOf(client);
  if (missingTriggers.length > 0 || others.length > 0)
    return { schema, state: "partial", missingTriggers };
  return { schema, state: "installed", mode: mode === "all" ? "all" : "registered", version };
}

async function partsOf(
  client: PoolClient,
): Promise<{ readonly hasSchema: boolean; readonly version: number }> {
  const { rows } = await client.query<{ has_schema: boolean; version: string | null }>(
    guardPartsSql,
  );
  const version = /^version (\d+)$/.exec(rows[0]?.version ?? "")?.[1];
  return { hasSchema: rows[0]?.has_schema ?? false, version: Number(version ?? 0) };
}

async function withClient<T>(
  pool: Pool,
  what: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    const result = await work(client);
    client.release();
    return result;
  } catch (cause) {
    // A transaction may be open in it.
    client?.release(true);
    throw fault(cause, `Could not ${what}`);
  }
}

function fault(cause: unknown, what: string): unknown {
  if (cause instanceof BackendError) return cause;
  if (stateOf(cause) === "55P03")
    return new BackendError(
      "BACKEND_TIMEOUT",
      `${what}: writes were under way for more than 5,000 ms. Look for transactions that stay open, and try again.`,
      { cause },
    );
  if (stateOf(cause) === "42501")
    return new BackendError(
      "BACKEND_FORBIDDEN",
      `${what}: this role may not. Run what checkpointGuardSql() returns as the owner of the saver's tables.`,
      { cause },
    );
  return postgresFault(cause, what);
}
