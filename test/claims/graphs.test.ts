import type { DurableCoordinator } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";
import { fencedPostgresSaver } from "@sole-writer/langgraph";
import { type SpawnedProcess, sharedPostgres, spawnProcess } from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { GraphUnit, GraphWorkerTask } from "../src/claims/graph-worker.js";

const server = await sharedPostgres();
const leaseMs = 1_000;

interface Effect {
  readonly unit: string;
  readonly node: string;
  readonly attempt: number;
  readonly worker: string;
}
interface InNode {
  readonly unit: string;
  readonly node: string;
  readonly worker: string;
}

let url: string;
let coordinator: DurableCoordinator;
let workers: SpawnedProcess[];

beforeEach(async () => {
  url = await server.createDatabase();
  const pool = new Pool({ connectionString: url });
  await fencedPostgresSaver(pool).setup();
  await pool.end();
  await server.query(
    `create table effects (at timestamptz default clock_timestamp(), unit text, graph text, node text,
       attempt int, fence bigint, worker text)`,
    [],
    url,
  );
  coordinator = durableClaim({ app: "graphs", url, retryFirstMs: 100 });
  workers = [];
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await coordinator.close();
});

function start(label: string, ...more: string[]): SpawnedProcess {
  const task: GraphWorkerTask = { url, label, leaseMs };
  const file = new URL("../dist/claims/graph-worker.js", import.meta.url);
  const worker = spawnProcess(file, { args: [JSON.stringify(task), ...more], label });
  workers.push(worker);
  return worker;
}

async function submit(graph: string, does: GraphUnit["does"], maxAttempts = 3): Promise<string> {
  const { id } = await coordinator.submit(graph, { payload: { does }, maxAttempts });
  return id;
}

const effectsOf = (unit: string) =>
  server.query<Effect>(
    "select unit, node, attempt, worker from effects where unit = $1 order by at",
    [unit],
    url,
  );

/** Longer than a lease, a pause and a start, twice. */
const within = { timeout: 15_000 };
const stateOf = async (id: string) => (await coordinator.units({ id })).units[0];
const inNode = (worker: SpawnedProcess, node: string) =>
  worker.nextMessage<InNode>((message) => message.node === node, 15_000);

it("continues a unit whose replica is killed in the middle from the newest checkpoint", async () => {
  const a = start("a");
  const id = await submit("orders", "waits-to-be-killed");
  await inNode(a, "second");
  await a.kill();
  start("b");
  await expect.poll(async () => (await stateOf(id))?.state, within).toBe("done");
  expect(await stateOf(id)).toMatchObject({
    attempt: 2,
    holder: "b",
    // The input once, the finished node once.
    result: { log: ["input", "first", "second", "third"] },
  });
  expect(await effectsOf(id)).toMatchObject([
    { node: "first", attempt: 1, worker: "a" },
    { node: "second", attempt: 1, worker: "a" },
    { node: "second", attempt: 2, worker: "b" },
    { node: "third", attempt: 2, worker: "b" },
  ]);
});

it("starts a unit that kills its process as often as it may, and then no more", async () => {
  const poison = await submit("poison", "aborts", 3);
  let restarts = 0;
  // A supervisor, as every platform has one.
  async function supervise(): Promise<void> {
    while (restarts < 10) {
      restarts += 1;
      const { signal } = await start(`replica-${restarts}`).exited;
      if (signal !== "SIGABRT") return;
    }
  }
  const supervised = supervise();
  const others: string[] = [];
  for (let count = 0; count < 10; count += 1)
    others.push(await submit(`good-${count % 2}`, "its-work"));
  await expect.poll(async () => (await stateOf(poison))?.state, { timeout: 30_000 }).toBe("dead");
  for (const id of others)
    await expect.poll(async () => (await stateOf(id))?.state, within).toBe("done");
  expect(await stateOf(poison)).toMatchObject({
    attempt: 3,
    reason: expect.stringMatching(/worker vanished: replica-3 .* attempt 3 of 3/),
  });
  expect((await effectsOf(poison)).filter(({ node }) => node === "second")).toHaveLength(3);
  await workers.at(-1)?.kill();
  await supervised;
  expect(restarts).toBe(4);
}, 90_000);

it("hands a unit back on SIGTERM at no cost, and the next replica goes on within a second", async () => {
  const a = start("a");
  const id = await submit("orders", "waits-to-be-stopped", 1);
  await inNode(a, "second");
  const b = start("b", "after-stop");
  await b.nextMessage((message) => message === "ready", 15_000);
  const stoppedAt = performance.now();
  const exit = a.kill("SIGTERM");
  await inNode(b, "third");
  const tookMs = performance.now() - stoppedAt;
  expect(await exit).toMatchObject({ code: 0 });
  await expect.poll(async () => (await stateOf(id))?.state, within).toBe("done");
  expect(await stateOf(id)).toMatchObject({ attempt: 1, holder: "b" });
  expect(tookMs).toBeLessThan(1_000);
  expect((await effectsOf(id)).map(({ node }) => node)).toEqual(["first", "second", "third"]);
});
