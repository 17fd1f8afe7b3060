import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { guardedEnv } from "../guard/guard.js";
import { tempFolder } from "../guard/temp-folder.js";
import { serverAccount } from "../postgres/account.js";
import { superuser } from "../postgres/data-folder.js";
import { queryOnce } from "../postgres/query.js";
import { type UrlParts, urlWith } from "../postgres/urls.js";
import { startServerProcess } from "../process/server-process.js";
import { ensureServers, serverProgram } from "./ensure-servers.js";
import { onFreePort } from "./on-free-port.js";

/** A pooler in front of a PostgreSQL. */
export interface PgBouncer extends AsyncDisposable {
  /** `postgres://…` through the pooler, to the database and as the user given at its start. */
  url(at?: UrlParts): string;
  stop(): Promise<void>;
}

/** How `startPgBouncer` pools. */
export interface PgBouncerOptions {
  readonly server: { readonly host: string; readonly port: number };
  readonly database: string;
  /** Everybody becomes this user behind the pooler. */
  readonly user: string;
  /** Default: the one of the testbed's superuser. */
  readonly password?: string;
  readonly poolMode: "transaction" | "session" | "statement";
  /** Sessions behind it, per database. Default 20. */
  readonly poolSize?: number;
}

/**
 * Starts a PgBouncer on a free port; resolves when a query comes through. Where it is not installed, the
 * one in PGBOUNCER_URL serves when it pools the server in DATABASE_URL by transaction, as the one in
 * compose.yaml does. Throws with what to do when there is neither.
 */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { database, user, password = superuser.password } = options;
  const given = await givenPgBouncer(options);
  if (given !== undefined) {
    const url = (at?: UrlParts) => urlWith(given, { database, ...at });
    return { url, stop: async () => {}, [Symbol.asyncDispose]: async () => {} };
  }
  const program = await serverProgram("pgbouncer");
  // It refuses to run as root, like PostgreSQL.
  const account = serverAccount();
  const home = tempFolder("pgbouncer", account);
  const file = join(home.path, "pgbouncer.ini");
  const base = (port: number) =>
    urlWith(`postgres://127.0.0.1:${port}`, { user, password, database });
  try {
    const { port, started } = await onFreePort((one) => {
      writeFileSync(file, configuration({ ...options, password, port: one }));
      return startServerProcess({
        name: "PgBouncer",
        program,
        args: [file],
        folder: home.path,
        logFile: join(home.path, "log"),
        env: guardedEnv({ PATH: process.env.PATH }),
        account,
        answers: () => queryOnce(base(one), "SELECT 1"),
      });
    });
    const stop = async () => {
      await started.end("SIGKILL");
      await home.remove();
    };
    return { url: (at) => urlWith(base(port), at), stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await home.remove();
    throw error;
  }
}

async function givenPgBouncer(options: PgBouncerOptions): Promise<string | undefined> {
  const { PGBOUNCER_URL: pooler, DATABASE_URL: database } = process.env;
  const [installed] = await ensureServers(["pgbouncer"]);
  if (installed.found || !pooler || !database || options.poolMode !== "transaction")
    return undefined;
  const { hostname, port } = new URL(database);
  const isBefore = hostname === options.server.host && Number(port || 5432) === options.server.port;
  return isBefore ? pooler : undefined;
}

function configuration(at: PgBouncerOptions & { password: string; port: number }): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const { host, port } = at.server;
  return [
    "[databases]",
    `* = host=${host} port=${port} user=${quote(at.user)} password=${quote(at.password)}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${at.port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${at.poolMode}`,
    `default_pool_size = ${at.poolSize ?? 20}`,
    "max_client_conn = 500",
    // Drivers and strategies set these at connect; PgBouncer 1.18 refuses what it does not know.
    "ignore_startup_parameters = extra_float_digits,options",
    "",
  ].join("\n");
}
