import { randomUUID } from "node:crypto";
import pg from "pg";

/** Runs one statement on a connection of its own. Throws what the driver throws. */
export async function queryOnce<R>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "sole-writer-testbed",
    connectionTimeoutMillis: connectMs,
  });
  // A server that goes away under the statement also rejects the statement; this is its echo.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query(sql, [...values]);
    return rows as R[];
  } finally {
    await client.end().catch(() => {});
  }
}

const connectMs = 30_000;

/** 15 for PostgreSQL 15.4. */
export async function askMajorVersion(url: string): Promise<number> {
  const [row] = await queryOnce<{ server_version_num: string }>(url, "SHOW server_version_num");
  return Math.floor(Number(row?.server_version_num) / 10_000);
}

/** A new empty database beside the one of `url`; resolves with its name. */
export async function createDatabaseAt(url: string, prefix: string): Promise<string> {
  const name = `${prefix}${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  try {
    // From template0: nobody can be connected to it, which would make this fail.
    await queryOnce(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  } catch (cause) {
    if ((cause as { code?: string }).code !== "42501") throw cause;
    throw new Error(
      `The role of DATABASE_URL may not create databases, and every test file needs one of its own. ` +
        `Run ALTER ROLE ${new URL(url).username} CREATEDB as a superuser, or unset DATABASE_URL.`,
      { cause },
    );
  }
  return name;
}
