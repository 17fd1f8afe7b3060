import {
  assertAppName,
  assertDurationMs,
  assertGraphName,
  InvalidOptionError,
  type Observer,
} from "@sole-writer/core";
import {
  addressOf,
  assertConnectionUrl,
  assertSchemaName,
  defaultSchema,
} from "@sole-writer/postgres";
import { assertNoSharedKey, type KeyForm, lockKey, lockSpaceOf } from "./key.js";

/** How to reach PostgreSQL, and who asks. */
export interface SkipLockOptions {
  /** Name of the application. Applications on one database never meet. */
  readonly app: string;
  /** `postgres://…` of the primary, reached directly: no pooler in between. */
  readonly url: string;
  /**
   * The first number of every lock key, an int4. Programs in other languages take the same. Default:
   * `crc32(utf8(app)) - 2^31`.
   */
  readonly lockSpace?: number;
  /**
   * `pair` (default): `(lockSpace, crc32(graph) - 2^31)`. `single`: a 64-bit hash, for graph names that are
   * made at run time. All replicas of an application need the same.
   */
  readonly key?: KeyForm;
  /** Names of all graphs, if they are known: two that share a key are then refused here. */
  readonly graphs?: readonly string[];
  /**
   * `dedicated` (default): a session for each grant. `shared`: one session for all grants of this process;
   * for hundreds of graphs, at the price that they are lost together.
   */
  readonly session?: "dedicated" | "shared";
  /** For people, in refusals and in `pg_stat_activity`. Default `host:pid`. */
  readonly label?: string;
  /** Longest time in ms for one `acquire`, the connection included. Default 5,000. */
  readonly acquireTimeoutMs?: number;
  /** Where the tables are. Applications that share one also share its rows. Default `sole_writer`. */
  readonly schema?: string;
  /** Make the schema when it is missing. Default true. */
  readonly migrate?: boolean;
  readonly onEvent?: Observer;
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly app: string;
  readonly url: string;
  readonly schema: string;
  readonly address: string;
  readonly keyForm: KeyForm;
  readonly lockSpace: number;
  readonly session: "dedicated" | "shared";
  readonly acquireTimeoutMs: number;
  readonly migrate: boolean;
}

const known: readonly string[] = [
  "app",
  "url",
  "lockSpace",
  "key",
  "graphs",
  "session",
  "label",
  "acquireTimeoutMs",
  "schema",
  "migrate",
  "onEvent",
] satisfies readonly (keyof SkipLockOptions)[];

/** @throws {InvalidOptionError} for the first option that makes no sense. */
export function checkedOptions(options: SkipLockOptions): CheckedOptions {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new InvalidOptionError(`skipLock has no option ${unknown}; it has ${known.join(", ")}.`);
  const { app, url, session = "dedicated", key: keyForm = "pair", migrate = true } = options;
  assertAppName(app);
  assertConnectionUrl("url", url);
  const { schema = defaultSchema } = options;
  assertSchemaName("schema", schema);
  const { acquireTimeoutMs = 5_000, lockSpace = lockSpaceOf(app) } = options;
  assertDurationMs("acquireTimeoutMs", acquireTimeoutMs);
  if (!Number.isInteger(lockSpace) || lockSpace < -(2 ** 31) || lockSpace >= 2 ** 31)
    throw new InvalidOptionError(
      `lockSpace must be a whole number from ${-(2 ** 31)} to ${2 ** 31 - 1} (an int4), not ${String(lockSpace)}.`,
    );
  assertOneOf("session", session, ["dedicated", "shared"]);
  assertOneOf("key", keyForm, ["pair", "single"]);
  assertOneOf("migrate", migrate, [true, false]);
  for (const graph of options.graphs ?? []) assertGraphName(graph);
  assertNoSharedKey((graph) => lockKey(keyForm, lockSpace, graph), options.graphs ?? []);
  const address = addressOf(url).shown;
  return { app, url, schema, address, keyForm, lockSpace, session, acquireTimeoutMs, migrate };
}

function assertOneOf(option: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const list = allowed.map((one) => JSON.stringify(one)).join(" or ");
  throw new InvalidOptionError(`${option} must be ${list}, not ${JSON.stringify(value)}.`);
}
