import { randomUUID } from "node:crypto";
import { askMajorVersion, createDatabaseAt, queryOnce } from "./query.js";
import type { Database } from "./server.js";
import { type UrlParts, urlWith } from "./urls.js";

/**
 * A server that somebody else runs, for tests that only need databases. `stop` drops the databases that
 * were created with `prefix`, and leaves everything else. Throws when it does not answer.
 */
export async function givenServer(
  base: string,
  prefix = `sole_writer_${randomUUID().slice(0, 8)}_`,
): Promise<Database> {
  const { hostname, port } = new URL(base);
  const majorVersion = await askMajorVersion(base).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The server in DATABASE_URL did not answer: ${why}. Start it, or unset DATABASE_URL.`,
      { cause },
    );
  });
  const url = (at?: UrlParts) => urlWith(base, at);

  async function stop(): Promise<void> {
    const rows = await queryOnce<{ datname: string }>(
      base,
      "SELECT datname FROM pg_database WHERE starts_with(datname, $1)",
      [prefix],
    );
    for (const { datname } of rows) {
      await queryOnce(base, `DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    }
  }

  return {
    host: hostname,
    port: Number(port || 5432),
    majorVersion,
    url,
    createDatabase: async () => url({ database: await createDatabaseAt(base, prefix) }),
    query: (sql, values, at = base) => queryOnce(at, sql, values),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
