import { InvalidOptionError } from "@sole-writer/core";
import { Client, type PoolConfig } from "pg";
import { assertConnectionUrl } from "./connection-url.js";

/** A `Pool` of `pg`, as far as it says where it connects to. Nothing is ever taken from it. */
export interface PoolAddress {
  readonly options: PoolConfig;
}

/**
 * The URL of what a pool connects to, for sessions of our own beside it.
 * @throws {InvalidOptionError} when it is no pool of `pg`, or connects in a way that no URL can say: a
 * password that is asked for, TLS with certificates of its own. It never repeats the password.
 */
export function urlOfPool(option: string, pool: unknown): string {
  const options =
    typeof pool === "object" && pool !== null && "options" in pool ? pool.options : undefined;
  if (typeof options !== "object" || options === null)
    throw new InvalidOptionError(`${option} must be a Pool of pg.`);
  const { connectionString, password, ssl }: PoolConfig = options;
  if (typeof ssl === "object" || typeof password === "function")
    throw new InvalidOptionError(
      `${option} has ${typeof ssl === "object" ? "TLS options" : "a password"} that a session of our own cannot take over. Give url instead, with sslmode and sslrootcert where they are needed.`,
    );
  if (connectionString !== undefined) {
    assertConnectionUrl(`${option}.options.connectionString`, connectionString);
    return connectionString;
  }
  return urlOf(new Client(options), ssl === true);
}

function urlOf(client: Client, isEncrypted: boolean): string {
  const { host, port, user, password, database } = client;
  const url = new URL("postgres://localhost");
  if (host.startsWith("/")) url.searchParams.set("host", host);
  else url.host = host.includes(":") ? `[${host}]` : host;
  url.port = String(port);
  url.username = encodeURIComponent(user ?? "");
  url.password = encodeURIComponent(typeof password === "string" ? password : "");
  url.pathname = `/${encodeURIComponent(database ?? "")}`;
  if (isEncrypted) url.searchParams.set("sslmode", "verify-full");
  return url.href;
}
