import {
  ensureServers,
  type PgBouncer,
  sharedPostgres,
  startPgBouncer,
} from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterAll, expect, it } from "vitest";
import { fencedPostgresSaver, runGraph } from "../src/index.js";
import { chain, thread } from "./support/graphs.js";
import { guarded } from "./support/guarded.js";
import { errorOf } from "./support/promises.js";

const there = await guarded();
const server = await sharedPostgres();
let pooler: PgBouncer | undefined;
afterAll(async () => {
  await there.end();
  await pooler?.stop();
});

const [pgbouncer] = await ensureServers(["pgbouncer"]);

it("fences behind a pooler in transaction mode, where each transaction may meet another session", async ({
  skip,
}) => {
  if (!pgbouncer.found && !process.env.PGBOUNCER_URL) skip(`not run: ${pgbouncer.advice}`);
  const { username, password, pathname } = new URL(there.url);
  pooler = await startPgBouncer({
    server,
    database: pathname.slice(1),
    user: username,
    password,
    poolMode: "transaction",
    poolSize: 2,
  });
  const pool = new Pool({ connectionString: pooler.url(), max: 4 });
  const saver = fencedPostgresSaver(pool);
  await Promise.all([saver.setup(), saver.setup()]);
  const { graph } = chain(saver, { one: "default", two: "default" });
  for (let run = 0; run < 20; run += 1) {
    const outcome = await runGraph(there.replica("a"), "g", graph, {
      input: { log: ["in"] },
      threadId: `t${run % 3}`,
      runId: `${run}`,
    });
    expect(outcome).toMatchObject({ status: "ran" });
  }
  // No session of the pooler has kept a fence, or an open gate.
  const plain = chain(there.plain, { one: "default" }).graph;
  expect(await errorOf(plain.invoke({ log: [] }, thread("t1")))).toMatchObject({ code: "SW002" });
  for (let asked = 0; asked < 8; asked += 1)
    expect(await errorOf(pool.query("delete from checkpoints"))).toMatchObject({ code: "SW002" });
  await pool.end();
});
