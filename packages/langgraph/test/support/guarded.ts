import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { type Coordinator, type Grant, systemClock } from "@sole-writer/core";
import { memoryCoordinator, memoryStore } from "@sole-writer/core/testing";
import { sharedPostgres } from "@sole-writer/testbed";
import { Client, Pool } from "pg";
import { type FencedPostgresSaverOptions, fencedPostgresSaver } from "../../src/index.js";

/** A database of one's own with a guarded saver, its neighbours, and coordinators that share a store. */
export async function guarded(options: FencedPostgresSaverOptions = {}) {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  const pool = new Pool({ connectionString: url, max: 6 });
  const clients: Client[] = [];
  const saver = fencedPostgresSaver(pool, options);
  await saver.setup();
  const store = memoryStore(systemClock());
  return {
    url,
    pool,
    saver,
    /** The saver of somebody who never asked. */
    plain: new PostgresSaver(pool),
    /** So seldom renewed that it hears of nothing by itself: what is refused, PostgreSQL refuses. */
    replica: (label: string): Coordinator =>
      memoryCoordinator({ store, label, ttlMs: 600_000, renewEveryMs: 300_000 }),
    /** Whoever holds the graph is superseded, as after a lease that ran out. */
    async supersede(graph: string, by: Coordinator): Promise<Grant> {
      const record = store.graphs("test").get(graph);
      if (record) delete record.holder;
      const answer = await by.acquire(graph);
      if (!answer.granted) throw new Error(answer.message);
      return answer;
    },
    /** A session of one's own. */
    async session(name = "test"): Promise<Client> {
      const client = new Client({ connectionString: url, application_name: name });
      await client.connect();
      clients.push(client);
      return client;
    },
    /** What the tables of the saver hold, for a comparison byte by byte. */
    async stored(): Promise<string> {
      const { rows } = await pool.query<{ all: string }>(`
        select string_agg(t::text, E'\\n' order by t::text) as all from (
          select c::text from checkpoints c union all
          select b::text from checkpoint_blobs b union all
          select w::text from checkpoint_writes w) as t`);
      return rows[0]?.all ?? "";
    },
    async end(): Promise<void> {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
      await pool.end();
    },
  };
}

/** Comes back when the condition holds; after 20 s of asking, which is far beyond every bound here, it throws. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const askedFrom = performance.now();
  while (!(await condition())) {
    if (performance.now() - askedFrom > 20_000) throw new Error("It did not come to that in 20 s.");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Comes back when a session that runs such a statement waits for a lock. */
export async function waitsForLock(pool: Pool, statementPart: string): Promise<void> {
  const sql = "select from pg_stat_activity where wait_event_type = 'Lock' and query like $1";
  await until(async () => (await pool.query(sql, [`%${statementPart}%`])).rowCount !== 0);
}
