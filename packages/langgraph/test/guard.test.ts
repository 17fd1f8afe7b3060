import { tick } from "@sole-writer/core";
import { afterEach, describe, expect, it } from "vitest";
import { fencedPostgresSaver, runGraph, withGrant } from "../src/index.js";
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

describe("a writer that never asked is refused by PostgreSQL, and told the graph and what to do", () => {
  it("a plain PostgresSaver", async () => {
    const { plain, stored } = await open();
    await ran(there);
    const before = await stored();
    const { graph } = chain(plain, { one: "default", two: "default" });
    const more = { log: ["more"] };
    for (const durability of ["sync", "async", "exit"] as const) {
      const error = await errorOf(graph.invoke(more, { ...thread("t"), durability }));
      expect(error).toMatchObject({
        code: "SW002",
        message: expect.stringContaining(`thread "t" belongs to graph "orders"`),
        hint: expect.stringMatching(/runGraph or withGrant.*sole_writer\.enter_thread/),
      });
    }
    expect(await errorOf(graph.updateState(thread("t"), more))).toMatchObject({ code: "SW002" });
    expect(await errorOf(plain.deleteThread("t"))).toMatchObject({ code: "SW002" });
    expect(await stored()).toBe(before);
  });

  it.each([
    "insert into checkpoints values ('t', '', 'z', null, null, '{}', '{}')",
    "insert into checkpoint_blobs values ('t', '', 'log', '99', 'json', null) on conflict do nothing",
    "insert into checkpoint_writes values ('t', '', 'z', 'task', 0, 'log', 'json', '')",
    "update checkpoints set metadata = '{}'",
    "update checkpoints set thread_id = 'elsewhere'",
    "update checkpoint_writes set thread_id = 't' where thread_id = 'other'",
    "delete from checkpoints where thread_id = 't'",
    "delete from checkpoint_blobs",
    "delete from checkpoint_writes",
    "with gone as (delete from checkpoints returning *) select * from gone",
  ])("plain SQL: %s", async (sql) => {
    const { plain, stored, session } = await open();
    await chain(plain, { one: "default" }).graph.invoke(input, thread("other"));
    await ran(there);
    const before = await stored();
    expect(await errorOf((await session()).query(sql))).toMatchObject({
      code: "SW002",
      message: expect.stringContaining(`graph "orders"`),
      detail: expect.stringContaining("Last entered by a at"),
    });
    expect(await stored()).toBe(before);
  });

  it("one that carries an older fence, one that has not entered, and one that carries nonsense", async () => {
    const { session, stored, pool } = await open();
    await ran(there);
    const before = await stored();
    const { rows } = await pool.query<{ fence: string }>("select fence from sole_writer.thread");
    const fence = BigInt(rows[0]?.fence ?? 0);
    const outsider = await session();
    const attempt = async (carried: string) => {
      await outsider.query(`set sole_writer.fence = '${carried}'`);
      return await errorOf(outsider.query("delete from checkpoints"));
    };
    expect(await attempt(`${fence - 1n}`)).toMatchObject({
      code: "SW001",
      message: `checkpoint write refused: fence ${fence - 1n} is older than fence ${fence}, with which graph "orders" entered thread "t"`,
    });
    expect(await attempt(`${fence + 1n}`)).toMatchObject({ code: "SW003" });
    expect(await attempt("9 or 10")).toMatchObject({ code: "22P02" });
    expect(await stored()).toBe(before);
    await outsider.query(`set sole_writer.fence = '${fence}'`);
    expect((await outsider.query("delete from checkpoints")).rowCount).toBeGreaterThan(0);
  });

  it("is let through when an operator says so, for that transaction alone", async () => {
    const { session, stored } = await open();
    await ran(there);
    const operator = await session();
    await operator.query(
      "begin; set local sole_writer.guard = 'off'; delete from checkpoint_writes",
    );
    await operator.query("commit");
    expect(await errorOf(operator.query("delete from checkpoints"))).toMatchObject({
      code: "SW002",
    });
    expect(await stored()).not.toBe("");
  });
});

describe("which threads are guarded", () => {
  it("registered: those that were entered, and no other; a thread without its row is refused to a fence", async () => {
    const { plain, pool, session } = await open();
    await ran(there);
    const { graph } = chain(plain, { one: "default" });
    expect(await graph.invoke(input, thread("free"))).toEqual({ log: ["in", "one"] });
    await plain.deleteThread("free");
    const outsider = await session();
    await outsider.query("set sole_writer.fence = '1'");
    const insert = "insert into checkpoints values ('new', '', 'z', null, null, '{}', '{}')";
    expect(await errorOf(outsider.query(insert))).toMatchObject({
      code: "SW003",
      detail: "Nobody has entered it.",
    });
    expect((await pool.query("select from checkpoints where thread_id = 'new'")).rowCount).toBe(0);
  });

  it("all: every thread of the schema", async () => {
    const { plain } = await open({ mode: "all" });
    await ran(there);
    const { graph } = chain(plain, { one: "default" });
    expect(await errorOf(graph.invoke(input, thread("free")))).toMatchObject({
      code: "SW002",
      message: expect.stringContaining(`in mode "all"`),
    });
  });

  it("a read that a node makes of another thread does not enter it", async () => {
    const { saver, replica, pool } = await open();
    const { graph } = chain(saver, {
      one: async () => {
        await saver.getTuple(thread("another"));
        return {};
      },
    });
    await runGraph(replica("a"), "orders", graph, { input, threadId: "t" });
    const { rows } = await pool.query("select thread_id from sole_writer.thread");
    expect(rows).toEqual([{ thread_id: "t" }]);
  });

  it("odd names of threads are threads of their own, and one with a zero character is refused", async () => {
    const { saver, replica, pool } = await open({ mode: "all" });
    const { graph, runs } = chain(saver, { one: "default" });
    const run = (threadId: string) => runGraph(replica("a"), "orders", graph, { input, threadId });
    const odd = ["a'b\\c", "ü😀", "x".repeat(2_000), `q"'; drop table checkpoints; --`];
    for (const threadId of odd) expect(await run(threadId)).toMatchObject({ status: "ran" });
    const { rows } = await pool.query<{ thread_id: string }>(
      "select thread_id from sole_writer.thread",
    );
    expect(rows.map(({ thread_id: id }) => id).sort()).toEqual(odd.sort());
    expect(await run("zero\0x")).toMatchObject({
      status: "failed",
      error: { code: "INVALID_OPTION" },
    });
    expect(runs).toHaveLength(odd.length);
  });

  it("a deleted thread keeps its fence", async () => {
    const { saver, replica, plain, session } = await open();
    await ran(there);
    const deleting = await tick(replica("b"), "orders", (grant) =>
      withGrant(grant, () => saver.deleteThread("t")),
    );
    expect(deleting).toMatchObject({ status: "ran" });
    const { graph } = chain(plain, { one: "default" });
    expect(await errorOf(graph.invoke(input, thread("t")))).toMatchObject({ code: "SW002" });
    const stale = await session();
    await stale.query("set sole_writer.fence = '5'");
    const insert = "insert into checkpoints values ('t', '', 'z', null, null, '{}', '{}')";
    expect(await errorOf(stale.query(insert))).toMatchObject({ code: "SW001" });
  });

  it("two schemas do not know each other's threads", async () => {
    const { pool, replica } = await open();
    await ran(there);
    const second = fencedPostgresSaver(pool, { schema: 'of "two"' });
    await expect(second.setup()).rejects.toThrow();
    const other = fencedPostgresSaver(pool, { schema: "two" });
    await other.setup();
    const { graph } = chain(other, { one: "default" });
    const outcome = await runGraph(replica("a"), "other", graph, { input, threadId: "t" });
    expect(outcome).toMatchObject({ status: "ran", how: "ran" });
  });
});
