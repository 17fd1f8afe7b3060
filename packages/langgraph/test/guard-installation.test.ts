import { randomUUID } from "node:crypto";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Pool } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import {
  checkpointGuardSql,
  checkpointGuardStatus,
  fencedPostgresSaver,
  installCheckpointGuard,
  removeCheckpointGuard,
  runGraph,
} from "../src/index.js";
import { migratingPool } from "../src/postgres/migrating-pool.js";
import { chain, thread } from "./support/graphs.js";
import { guarded } from "./support/guarded.js";
import { errorOf } from "./support/promises.js";

const input = { log: ["in"] };
type Guarded = Awaited<ReturnType<typeof guarded>>;

let there: Guarded;
async function open(...args: Parameters<typeof guarded>): Promise<Guarded> {
  there = await guarded(...args);
  return there;
}
afterEach(() => there.end());

/** A finished run of graph "orders" on thread "t". */
async function ran({ saver, replica }: Guarded): Promise<void> {
  const { graph } = chain(saver, { one: "default", two: "default" });
  const outcome = await runGraph(replica("a"), "orders", graph, { input, threadId: "t" });
  expect(outcome).toMatchObject({ status: "ran" });
}

describe("installing and removing", () => {
  const everything = `
    select string_agg(x, E'\\n' order by x) as all from (
      select pg_get_triggerdef(oid) as x from pg_trigger where not tgisinternal union all
      select attrelid::regclass || '.' || attname || ' ' || atttypid::regtype || attnotnull
        from pg_attribute where attrelid in ('checkpoints'::regclass, 'checkpoint_blobs'::regclass, 'checkpoint_writes'::regclass)
      union all select indexdef from pg_indexes where schemaname = 'public') as t`;
  const shapeOf = async ({ pool }: Guarded) =>
    (await pool.query<{ all: string }>(everything)).rows[0]?.all;

  it("removing leaves the saver's tables as they were, and a fenced saver that finds no guard runs nothing", async () => {
    const { pool, saver, replica } = await open();
    await removeCheckpointGuard(pool);
    const bare = await shapeOf(there);
    expect(bare).not.toContain("TRIGGER");
    await installCheckpointGuard(pool);
    expect(await shapeOf(there)).toContain("TRIGGER");
    await removeCheckpointGuard(pool);
    await removeCheckpointGuard(pool);
    expect(await shapeOf(there)).toBe(bare);
    const { graph, runs } = chain(saver, { one: "default" });
    const outcome = await runGraph(replica("a"), "orders", graph, { input, threadId: "t" });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "BACKEND_SCHEMA" } });
    expect(runs).toEqual([]);
  });

  it("fences are remembered over a removal", async () => {
    const { pool, plain } = await open();
    await ran(there);
    await removeCheckpointGuard(pool);
    await installCheckpointGuard(pool);
    const { graph } = chain(plain, { one: "default" });
    expect(await errorOf(graph.invoke(input, thread("t")))).toMatchObject({ code: "SW002" });
  });

  it("status says what is there, and what is missing", async () => {
    const { pool } = await open();
    const status = () => checkpointGuardStatus(pool);
    expect(await status()).toEqual({
      schema: "public",
      state: "installed",
      mode: "registered",
      version: 1,
    });
    await pool.query("alter table checkpoint_blobs disable trigger sole_writer_guard");
    expect(await status()).toMatchObject({
      state: "partial",
      missingTriggers: ["sole_writer_guard on checkpoint_blobs"],
    });
    expect(await installCheckpointGuard(pool, { mode: "all" })).toMatchObject({
      state: "installed",
      mode: "all",
    });
    await removeCheckpointGuard(pool);
    expect(await status()).toEqual({ schema: "public", state: "absent" });
    await pool.query("drop table checkpoint_blobs");
    expect(await status()).toMatchObject({
      state: "no-tables",
      missingTables: ["checkpoint_blobs"],
    });
    expect(await errorOf(installCheckpointGuard(pool))).toMatchObject({ code: "BACKEND_SCHEMA" });
  });

  it("twelve replicas may set up at once", async () => {
    const { pool } = await open();
    for (let round = 0; round < 5; round += 1) {
      await pool.query(`drop schema sole_writer cascade;
        drop table checkpoints, checkpoint_blobs, checkpoint_writes, checkpoint_migrations`);
      await Promise.all(Array.from({ length: 12 }, () => fencedPostgresSaver(pool).setup()));
      expect(await checkpointGuardStatus(pool)).toMatchObject({ state: "installed" });
    }
  });

  it("setup keeps the mode that somebody chose", async () => {
    const { pool, saver } = await open({ mode: "all" });
    await fencedPostgresSaver(pool).setup();
    expect(await checkpointGuardStatus(pool)).toMatchObject({ mode: "all" });
    await installCheckpointGuard(pool, { mode: "registered" });
    await saver.setup();
    expect(await checkpointGuardStatus(pool)).toMatchObject({ mode: "all" });
  });

  it("the saver's own migrations run with the guard in place", async () => {
    const { pool, plain, saver } = await open();
    await ran(there);
    // As a database of the saver's version before the last one.
    await pool.query(`begin; set local sole_writer.guard = 'off'; delete from checkpoint_migrations where v = 4;
      update checkpoint_blobs set blob = '' where blob is null; commit;
      alter table checkpoint_blobs alter column blob set not null`);
    await plain.setup();
    await pool.query("delete from checkpoint_migrations where v = 4");
    await saver.setup();
    const { rows } = await pool.query(
      `select attnotnull from pg_attribute where attrelid = 'checkpoint_blobs'::regclass and attname = 'blob'`,
    );
    expect(rows).toEqual([{ attnotnull: false }]);
    expect(await checkpointGuardStatus(pool)).toMatchObject({ state: "installed" });
  });

  it("a migration that rewrites rows of every thread is let through, and nothing behind it", async () => {
    const { pool } = await open();
    await ran(there);
    const client = await migratingPool(pool).connect();
    const rewrite = "update checkpoints set metadata = metadata";
    expect(await client.query(rewrite)).toBeDefined();
    const parameters = "update checkpoints set metadata = metadata where thread_id = $1";
    expect(await errorOf(client.query(parameters, ["t"]))).toMatchObject({ code: "SW002" });
    client.release();
    expect(await errorOf(pool.query(rewrite))).toMatchObject({ code: "SW002" });
  });

  it("the script does what the function does, for a role that does not own the tables", async () => {
    const { pool, session } = await open();
    await removeCheckpointGuard(pool);
    await pool.query("drop schema sole_writer cascade");
    const owner = await session();
    await owner.query(checkpointGuardSql({ mode: "all" }));
    expect(await checkpointGuardStatus(pool)).toMatchObject({ state: "installed", mode: "all" });
  });

  it("a role that owns nothing writes what it may, with USAGE on the schema alone", async () => {
    const { pool, url, replica } = await open();
    await ran(there);
    const role = `sole_writer_role_${randomUUID().slice(0, 8)}`;
    await pool.query(`create role ${role} login password 'hush';
      grant usage on schema sole_writer to ${role};
      grant select, insert, update, delete on checkpoints, checkpoint_blobs, checkpoint_writes to ${role}`);
    const own = new Pool({
      connectionString: Object.assign(new URL(url), { username: role, password: "hush" }).href,
    });
    try {
      const { graph } = chain(fencedPostgresSaver(own), { one: "default" });
      const run = { input, threadId: "t", runId: "2" };
      expect(await runGraph(replica("b"), "orders", graph, run)).toMatchObject({ status: "ran" });
      const { graph: plain } = chain(new PostgresSaver(own), { one: "default" });
      expect(await errorOf(plain.invoke(input, thread("t")))).toMatchObject({ code: "SW002" });
      for (const sql of [
        "select from sole_writer.thread",
        "update sole_writer.thread set fence = 1",
      ])
        expect(await errorOf(own.query(sql))).toMatchObject({ code: "42501" });
      expect(await errorOf(installCheckpointGuard(own, { mode: "all" }))).toMatchObject({
        code: "BACKEND_FORBIDDEN",
        message: expect.stringContaining("checkpointGuardSql()"),
      });
    } finally {
      await own.end();
      await pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it("nonsense is refused before anybody is asked", async () => {
    const { pool } = await open();
    for (const options of [{ mode: "some" }, { schema: "" }, { schema: 7 }]) {
      const given = options as { mode: "all" };
      expect(await errorOf(installCheckpointGuard(pool, given))).toMatchObject({
        code: "INVALID_OPTION",
      });
      expect(() => fencedPostgresSaver(pool, given)).toThrow(/must be/);
      expect(() => checkpointGuardSql(given)).toThrow(/must be/);
    }
    expect(() => fencedPostgresSaver({} as never)).toThrow("pool must be a Pool of pg");
  });

  it("a plain saver that was there before the guard goes on where it may", async () => {
    const { pool } = await open();
    const before = new PostgresSaver(pool);
    const { graph } = chain(before, { one: "default" });
    expect(await graph.invoke(input, thread("mine"))).toEqual({ log: ["in", "one"] });
  });
});
