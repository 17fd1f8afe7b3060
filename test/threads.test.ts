import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { CoordinatorFactory } from "@sole-writer/conformance";
import { fencedPostgresSaver } from "@sole-writer/langgraph";
import { startPostgres, startRedis } from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { durableClaimFactory } from "./src/factories/durable-claim.js";
import { redisLeaseFactory } from "./src/factories/redis-lease.js";
import { skipLockFactory } from "./src/factories/skip-lock.js";
import { cannotRun } from "./src/languages/cannot-run.js";
import { lineProgram } from "./src/languages/line-program.js";
import { replicasOf } from "./src/threads/replicas.js";

const server = await startPostgres();
const url = await server.createDatabase();
const redis = await startRedis();
const pool = new Pool({ connectionString: url });
const saver = new PostgresSaver(pool);
await fencedPostgresSaver(pool).setup();
afterAll(async () => {
  await pool.end();
  await server.stop();
  await redis.stop();
});

const strategies: Record<string, CoordinatorFactory> = {
  "skip-lock": await skipLockFactory(server, url, undefined),
  "durable-claim": durableClaimFactory(server, url),
  "external-lease on redis": redisLeaseFactory(redis),
};

let threadId: string;
beforeEach(() => {
  threadId = randomUUID();
});

const thread = () => ({ configurable: { thread_id: threadId, checkpoint_ns: "" } });

async function log(): Promise<unknown> {
  return (await saver.getTuple(thread()))?.checkpoint.channel_values.log;
}

/** How many checkpoints have more than one child: none, where there was one writer at a time. */
async function forks(): Promise<number> {
  const children = new Map<string, number>();
  for await (const { parentConfig } of saver.list(thread())) {
    const parent = String(parentConfig?.configurable?.checkpoint_id);
    children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  return [...children.values()].filter((count) => count > 1).length;
}

async function stored(): Promise<string> {
  const { rows } = await pool.query<{ all: string }>(
    `select string_agg(t::text, E'\\n' order by t::text) as all from (
      select c::text from checkpoints c where thread_id = $1 union all
      select b::text from checkpoint_blobs b where thread_id = $1 union all
      select w::text from checkpoint_writes w where thread_id = $1) as t`,
    [threadId],
  );
  return rows[0]?.all ?? "";
}

const whole = (entry: string) => [entry, `${entry} thought`, `${entry} thought and said`];

describe("two processes that run one thread at the same time", () => {
  it("without the toolkit: both report success, and what one of them did is gone", async () => {
    await using replicas = replicasOf(undefined, url);
    const [a, b] = await Promise.all([replicas.start("a"), replicas.start("b")]);
    a.run("x", threadId);
    await a.next("in-node");
    b.run("y", threadId);
    await b.next("in-node");
    a.goOn();
    expect(await a.next("ended")).toMatchObject({ how: "ran" });
    b.goOn();
    expect(await b.next("ended")).toMatchObject({ how: "ran" });
    expect(await log()).not.toContain("x thought and said");
    expect(await forks()).toBeGreaterThan(0);
  });
});

const python = "/usr/bin/python3";
const script = fileURLToPath(new URL("./src/languages/writes-a-checkpoint.py", import.meta.url));

it("a program in Python is refused by PostgreSQL, until it takes part with a fence", async ({
  skip,
}) => {
  const missing = await cannotRun(python, ["-c", "import psycopg"], "install python3-psycopg");
  if (missing !== undefined) skip(missing);
  await using replicas = replicasOf(strategies["skip-lock"], url);
  const a = await replicas.start("a");
  a.run("x", threadId);
  await a.next("in-node");
  await using outsider = lineProgram(python, [script, url, threadId]);
  expect(await outsider.nextLine()).toBe("ready");

  const before = await stored();
  const refused = await outsider.ask("write 1");
  expect(refused).toMatch(/^SW002 .*belongs to graph "chat"/);
  expect(await outsider.ask("enter 5 chat")).toMatch(/^SW001 .*"chat" entered it with fence/);
  expect(await stored()).toBe(before);

  // As whoever acquired the graph after it would.
  const fence = (await fenceOf(threadId)) + 1n;
  expect(await outsider.ask(`enter ${fence} chat`)).toBe("entered");
  expect(await outsider.ask("write 2")).toBe("stored");
  a.goOn();
  const ended = await a.next("ended");
  expect(ended).toMatchObject({ how: "failed", detail: expect.stringContaining("StaleWrite") });
  expect(ended.detail).toContain(`older than fence ${fence}`);
});

async function fenceOf(id: string): Promise<bigint> {
  const sql = "select fence::text from sole_writer.thread where thread_id = $1";
  const { rows } = await pool.query<{ fence: string }>(sql, [id]);
  return BigInt(rows[0]?.fence ?? 0);
}

describe.each(Object.entries(strategies))("with %s", (_, factory) => {
  it("one runs, the other is told who does; in the end both inputs are there, in order, in one chain", async () => {
    await using replicas = replicasOf(factory, url);
    const [a, b] = await Promise.all([replicas.start("a"), replicas.start("b")]);
    a.run("x", threadId);
    await a.next("in-node");
    b.run("y", threadId);
    expect(await b.next("ended")).toMatchObject({
      how: "skipped",
      detail: expect.stringMatching(/"chat".*\ba\b/),
    });
    a.goOn();
    expect(await a.next("ended")).toMatchObject({ how: "ran" });
    b.run("y", threadId);
    await b.next("in-node");
    b.goOn();
    expect(await b.next("ended")).toMatchObject({ how: "ran" });
    expect(await log()).toEqual([...whole("x"), ...whole("y")]);
    expect(await forks()).toBe(0);
    expect([...a.crashes, ...b.crashes]).toEqual([]);
  });

  it("law 10: one that was stopped and superseded wakes up, changes nothing, and is told once", async () => {
    await using replicas = replicasOf(factory, url);
    const [a, b] = await Promise.all([replicas.start("a"), replicas.start("b")]);
    a.run("x", threadId);
    await a.next("in-node");
    a.process.stop();
    await factory.faults?.takeAway?.({
      app: replicas.app,
      graph: "chat",
      label: "a",
      holderId: "",
      fence: await fenceOf(threadId),
    });
    b.run("y", threadId);
    await b.next("in-node");
    b.goOn();
    expect(await b.next("ended")).toMatchObject({ how: "ran" });
    const before = await stored();
    a.process.cont();
    a.goOn();
    expect(await a.next("ended")).toMatchObject({ how: "lost" });
    expect(await stored()).toBe(before);
    expect(await log()).toEqual(["x", ...whole("y")]);
    expect([...a.crashes, ...b.crashes]).toEqual([]);
  });
});
