import { randomBytes } from "node:crypto";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { startPostgres } from "@sole-writer/testbed";
import { Client, Pool } from "pg";
import { type Loaded, loadWarehouse } from "../warehouse/load.js";

/** A database of the demo's own, filled with the warehouse. */
export interface StageDatabase {
  /** Of the database; carries the password. */
  readonly url: string;
  /** The same for people: without the password, unless the server is the demo's own. */
  readonly shownUrl: string;
  /** `PostgreSQL 18.4, started for this run`, without credentials. */
  readonly description: string;
  readonly loaded: Loaded;
  /** For the director's own questions. */
  readonly pool: Pool;
  /** Drops the database, and stops the server if it was started here. */
  close(): Promise<void>;
}

/**
 * Starts PostgreSQL, or takes the server of `givenUrl`, makes a database there and fills it.
 * @throws {Error} which says what is wrong with the server and what to do
 */
export async function openDatabase(givenUrl: string | undefined): Promise<StageDatabase> {
  const server = givenUrl === undefined ? await startPostgres() : undefined;
  const serverUrl = givenUrl ?? server?.url() ?? "";
  const name = `sole_writer_demo_${randomBytes(6).toString("hex")}`;
  try {
    const version = await createDatabase(serverUrl, name);
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    const application_name = "sole-writer-demo director";
    const pool = new Pool({ connectionString: url.href, max: 3, application_name });
    pool.on("error", () => {});
    const loaded = await fill(pool);
    const origin = server ? "started for this run" : `at ${url.host}, as DATABASE_URL says`;
    return {
      url: url.href,
      shownUrl: server ? url.href : withoutPassword(url),
      description: `PostgreSQL ${version}, ${origin}`,
      loaded,
      pool,
      async close() {
        await pool.end();
        await (server ? server.stop() : dropDatabase(serverUrl, name));
      },
    };
  } catch (error) {
    await (server ? server.stop() : dropDatabase(serverUrl, name).catch(() => undefined));
    throw error;
  }
}

async function fill(pool: Pool): Promise<Loaded> {
  await new PostgresSaver(pool).setup();
  const client = await pool.connect();
  try {
    return await loadWarehouse(client);
  } finally {
    client.release();
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  try {
    return await onServer(serverUrl, async (client) => {
      await client.query(`CREATE DATABASE ${name}`);
      const { rows } = await client.query<{ version: string }>(
        "SELECT split_part(current_setting('server_version'), ' ', 1) AS version",
      );
      return rows[0]?.version ?? "of an unknown version";
    });
  } catch (cause) {
    throw new Error(
      `Could not make a database on the PostgreSQL of this run: ${said(cause)}. Check DATABASE_URL (its role needs CREATEDB), or unset it: the demo then starts a server of its own.`,
      { cause },
    );
  }
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await onServer(serverUrl, (client) =>
    client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  );
}

async function onServer<T>(serverUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function withoutPassword(url: URL): string {
  const shown = new URL(url);
  shown.password = "";
  return shown.href;
}

/** A connection that was tried at several addresses fails with an error that has no words of its own. */
function said(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(said).join("; ");
  return cause instanceof Error ? cause.message.replace(/\.$/, "") : String(cause);
}
