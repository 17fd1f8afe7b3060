import { START, StateGraph } from "@langchain/langgraph";
import { type Grant, isGrantLost } from "@sole-writer/core";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fencedPostgresSaver, runGraph, withGrant } from "../src/index.js";
import { fencingPool } from "../src/postgres/fencing-pool.js";
import { chain, checkpoints, State, thread } from "./support/graphs.js";
import { guarded, until, waitsForLock } from "./support/guarded.js";
import { errorOf, stop, watched } from "./support/promises.js";
import { grantOf } from "./support/replicas.js";

const input = { log: ["in"] };

/**
 * A place inside of the writes of one replica, by its `application_name`, where a test holds them: a
 * trigger that fires before the guard's or behind it, and waits for an advisory lock.
 */
const gate = (name: string) => `
  create function gate() returns trigger language plpgsql as $$ begin
    if current_setting('application_name') = 'a' then perform pg_advisory_xact_lock(42); end if;
    return case when tg_op = 'DELETE' then old else new end;
  end $$;
  create trigger ${name} before insert or update or delete on checkpoints for each row execute function gate();
  create trigger ${name} before insert or update or delete on checkpoint_blobs for each row execute function gate();
  create trigger ${name} before insert or update or delete on checkpoint_writes for each row execute function gate();`;
const beforeTheCheck = "a_gate";
const behindTheCheck = "z_gate";

let there: Awaited<ReturnType<typeof guarded>>;
let poolOfA: Pool;
beforeEach(async () => {
  there = await guarded();
  poolOfA = new Pool({ connectionString: there.url, application_name: "a", max: 4 });
});
afterEach(async () => {
  // Lets go of what a failed test holds.
  await there.end();
  await poolOfA.end();
});

/** The writes that a superseded holder may still have under way, each on thread "t". */
const writes = {
  put: (saver: ReturnType<typeof fencedPostgresSaver>) =>
    chain(saver, { one: "default" }).graph.invoke({ log: ["late"] }, thread("t")),
  putWrites: (saver: ReturnType<typeof fencedPostgresSaver>) =>
    saver.putWrites(
      { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "0" } },
      [["log", "late"]],
      "task",
    ),
  "a subgraph's": (saver: ReturnType<typeof fencedPostgresSaver>) => {
    const inner = new StateGraph(State)
      .addNode("deep", async () => ({ log: ["late"] }))
      .addEdge(START, "deep")
      .compile({ checkpointer: true });
    return new StateGraph(State)
      .addNode("outer", inner)
      .addEdge(START, "outer")
      .compile({ checkpointer: saver })
      .invoke({ log: ["late"] }, { ...thread("t"), durability: "sync" });
  },
  updateState: (saver: ReturnType<typeof fencedPostgresSaver>) =>
    chain(saver, { one: "default", two: "default" }).graph.updateState(
      thread("t"),
      { log: ["late"] },
      "one",
    ),
  deleteThread: (saver: ReturnType<typeof fencedPostgresSaver>) => saver.deleteThread("t"),
};
const kinds = Object.keys(writes) as (keyof typeof writes)[];

/** Thread "t" with a finished run, and replica "a" in the middle of a write to it. */
async function writing(kind: keyof typeof writes, where: string) {
  const { pool, replica, session } = there;
  const a = replica("a");
  const saver = fencedPostgresSaver(poolOfA);
  const { graph } = chain(saver, { one: "default" });
  await runGraph(a, "g", graph, { input, threadId: "t" });
  await pool.query(gate(where));
  const keeper = await session();
  await keeper.query("select pg_advisory_lock(42)");
  const grant = await grantOf(a, "g");
  const write = watched(withGrant(grant, async () => void (await writes[kind](saver))));
  await until(async () => {
    if (write.now === "rejected") throw write.error;
    const waiting = "locktype = 'advisory' and objid = 42 and not granted";
    return (await pool.query(`select from pg_locks where ${waiting}`)).rowCount !== 0;
  });
  return {
    grant,
    write,
    release: async () => void (await keeper.query("select pg_advisory_unlock(42)")),
  };
}

/** The chain of checkpoints has one end, and every parent is there. */
async function expectOneChain(): Promise<void> {
  const found = await checkpoints(there.plain, "t");
  const ids = found.map(({ config }) => config.configurable?.checkpoint_id);
  const parents = found.flatMap(
    ({ parentConfig }) => parentConfig?.configurable?.checkpoint_id ?? [],
  );
  expect(new Set(parents).size).toBe(parents.length);
  for (const parent of parents) expect(ids).toContain(parent);
}

describe("law 10: a holder that is paused in a write, and superseded meanwhile", () => {
  it.each(kinds)("%s, before its check: refused, and nothing of it is stored", async (kind) => {
    const { supersede, replica, saver, stored } = there;
    const { write, release } = await writing(kind, beforeTheCheck);
    const b = await supersede("g", replica("b"));
    const { graph } = chain(saver, { two: "default" });
    const next = await runGraph(b, graph, { input: { log: ["next"] }, threadId: "t", runId: "2" });
    expect(next).toMatchObject({ status: "ran" });
    const after = await stored();
    await release();
    await until(() => write.now !== "pending");
    expect(write.now).toBe("rejected");
    expect(isGrantLost(write.error)).toBe(true);
    expect(await stored()).toBe(after);
    await expectOneChain();
  });

  it.each(kinds)(
    "%s, between its check and its commit: the successor waits for it, and reads what it stored",
    async (kind) => {
      const { supersede, replica, saver, pool, stored } = there;
      const { write, release } = await writing(kind, behindTheCheck);
      const before = await stored();
      const b = await supersede("g", replica("b"));
      const { graph, runs } = chain(saver, { two: "default" });
      const next = watched(
        runGraph(b, graph, { input: { log: ["next"] }, threadId: "t", runId: "2" }),
      );
      await waitsForLock(pool, "enter_thread");
      expect(runs).toEqual([]);
      expect(await stored()).toBe(before);
      await release();
      await until(() => next.now !== "pending" && write.now !== "pending");
      expect(next.error).toBeUndefined();
      // What it had under way is there or is gone, whole; what it would have done next was refused.
      if (write.now === "rejected") expect(isGrantLost(write.error)).toBe(true);
      else expect(kind).toMatch(/putWrites|deleteThread|updateState/);
      const { values } = await graph.getState(thread("t"));
      expect(values.log.slice(-2)).toEqual(["next", "two"]);
      await expectOneChain();
    },
  );

  it.each(["sync", "async", "exit"] as const)(
    "or between two writes, durability %s: the next one is refused by PostgreSQL alone, and the run is lost",
    async (durability) => {
      const { supersede, replica, saver, stored } = there;
      const here = stop();
      const { graph, runs } = chain(saver, {
        one: async () => {
          await here.here();
          return { log: ["late"] };
        },
        two: "default",
      });
      const grant = await grantOf(replica("a"), "g");
      const run = watched(runGraph(grant, graph, { input, threadId: "t", durability }));
      await here.reached;
      const b = await supersede("g", replica("b"));
      const next = chain(saver, { other: "default" });
      await runGraph(b, next.graph, { input: { log: ["next"] }, threadId: "t", runId: "2" });
      const after = await stored();
      here.release();
      await until(() => run.now !== "pending");
      expect(isGrantLost(run.error)).toBe(true);
      expect(await stored()).toBe(after);
      // With "sync" a node never begins on a checkpoint that was not stored.
      if (durability === "sync") expect(runs).toEqual(["one"]);
      await expectOneChain();
    },
  );

  it("and then frozen with its transaction open: the server ends it, and the successor goes on", async () => {
    const { supersede, replica, saver, stored } = there;
    const a = replica("a");
    const { graph } = chain(saver, { one: "default" });
    await runGraph(a, "g", graph, { input, threadId: "t" });
    const before = await stored();
    const grant = await grantOf(a, "g");
    await withGrant(grant, async () => void (await saver.getTuple(thread("t"))));
    const client = await fencingPool(poolOfA, () => grant).connect();
    await client.query("BEGIN");
    await client.query("insert into checkpoints values ('t', '', 'z', null, null, '{}', '{}')");
    const b = await supersede("g", replica("b"));
    const startedAt = performance.now();
    await withGrant(b, async () => void (await saver.getTuple(thread("t"))));
    // 5,000 ms of idling in the transaction, and time for the server to notice; it gives up at 10,000.
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    expect(await stored()).toBe(before);
    // As the saver does it: the rollback does not hide what made it roll back.
    const error = await errorOf(client.query("COMMIT"));
    await client.query("ROLLBACK");
    client.release();
    expect(String(error)).toMatch(/idle-in-transaction|terminat|not queryable/);
    expect(poolOfA.totalCount).toBe(0);
  });
});

describe("the first who enters a thread", () => {
  const insert = "insert into checkpoints values ('t', '', 'z', null, null, '{}', '{}')";

  function enter(grant: Grant) {
    return watched(withGrant(grant, async () => void (await there.saver.getTuple(thread("t")))));
  }

  it.each(["read committed", "repeatable read", "serializable"])(
    "waits for an unfenced write under way (%s), and refuses the next",
    async (level) => {
      const outsider = await there.session();
      await outsider.query(`begin isolation level ${level}`);
      await outsider.query(insert);
      const entering = enter(await grantOf(there.replica("a"), "g"));
      await waitsForLock(there.pool, "enter_thread");
      expect(entering.now).toBe("pending");
      await outsider.query("commit");
      await until(() => entering.now !== "pending");
      expect(entering.now).toBe("resolved");
      expect(await errorOf(outsider.query(insert))).toMatchObject({ code: "SW002" });
    },
  );

  it.each(["repeatable read", "serializable"])(
    "refuses a transaction whose snapshot is older (%s)",
    async (level) => {
      const outsider = await there.session();
      await outsider.query(`begin isolation level ${level}; select from checkpoints`);
      const entering = enter(await grantOf(there.replica("a"), "g"));
      await until(() => entering.now !== "pending");
      expect(await errorOf(outsider.query(insert))).toMatchObject({ code: "40001" });
      await outsider.query("rollback");
      const again = await there.session();
      await again.query(`begin isolation level ${level}`);
      expect(await errorOf(again.query(insert))).toMatchObject({ code: "SW002" });
    },
  );

  it.each(["repeatable read", "serializable"])(
    "refuses a transaction whose snapshot is older than the second one (%s)",
    async (level) => {
      const { replica, supersede } = there;
      const older = await grantOf(replica("a"), "g");
      await withGrant(older, async () => void (await there.saver.getTuple(thread("t"))));
      const outsider = await there.session();
      await outsider.query(`begin isolation level ${level}; select from checkpoints`);
      await outsider.query(`set local sole_writer.fence = '${older.fence}'`);
      const newer = await supersede("g", replica("b"));
      await withGrant(newer, async () => void (await there.saver.getTuple(thread("t"))));
      expect(await errorOf(outsider.query(insert))).toMatchObject({ code: "40001" });
    },
  );

  it("two grants: the newer one stays, whichever comes first, and the older is told", async () => {
    const { replica, supersede, pool } = there;
    const older = await grantOf(replica("a"), "g");
    const newer = await supersede("g", replica("b"));
    const entered = [enter(newer), enter(older)];
    await until(() => entered.every(({ now }) => now !== "pending"));
    expect(entered[0]?.now).toBe("resolved");
    const late = enter(older);
    await until(() => late.now !== "pending");
    expect(isGrantLost(late.error)).toBe(true);
    const { rows } = await pool.query("select fence::text, holder_label from sole_writer.thread");
    expect(rows).toEqual([{ fence: `${newer.fence}`, holder_label: "b" }]);
  });
});
