import pg from "pg";
import { expect, it } from "vitest";
import { claimOne, done, openDatabase } from "./support/open.js";

const { open, query, url } = await openDatabase();
const soon = { timeout: 5_000 };
const states = (app: string) =>
  query("select graph, state from sole_writer.unit where app = $1 order by graph", [app]);

it("removes what is done when it was kept long enough, by the policy of its graph", async () => {
  const first = open({ app: "one", keepDoneMs: 1, graphs: { kept: { keepDoneMs: 60_000 } } });
  for (const graph of ["gone", "kept", "dead"]) {
    await first.submit(graph, { maxAttempts: 1 });
    const grant = await claimOne(first);
    await grant.settle(graph === "dead" ? { kind: "failed", error: "no" } : done);
  }
  // A process looks with its first claim, and then from time to time.
  await open({ app: "one" }).claim();
  await expect
    .poll(() => states("one"), soon)
    .toEqual([
      { graph: "dead", state: "dead" },
      { graph: "kept", state: "done" },
    ]);
});

it("is not slowed by an old snapshot more than it may be", async () => {
  const coordinator = open({ app: "two", wake: false });
  async function medianOf(cycles: number): Promise<number> {
    const took: number[] = [];
    for (let count = 0; count < cycles; count += 1) {
      await coordinator.submit("g", {});
      const since = performance.now();
      const grant = await claimOne(coordinator);
      took.push(performance.now() - since);
      await grant.settle(done);
    }
    return took.sort((a, b) => a - b)[Math.floor(cycles / 2)] ?? 0;
  }
  await medianOf(200);
  const before = await medianOf(300);
  const old = new pg.Client({ connectionString: url });
  await old.connect();
  await old.query("begin isolation level repeatable read");
  await old.query("select count(*) from sole_writer.unit");
  await medianOf(5_700);
  const during = await medianOf(300);
  await old.query("rollback");
  await old.end();
  await query("vacuum sole_writer.unit");
  await query("vacuum sole_writer.graph");
  await query("vacuum sole_writer.lease");
  const after = await medianOf(300);
  console.log({ before, during, after });
  // Measured: 2.6 times. Five times is what is allowed.
  expect(during).toBeLessThan(before * 5);
  expect(after).toBeLessThan(before * 2);
}, 120_000);

it("shows ages and pauses by the server's clock, whatever the zone of the role and of the process", async () => {
  const database = new URL(url).pathname.slice(1);
  await query(`alter database ${database} set timezone = 'Asia/Tokyo'`);
  const zone = process.env.TZ;
  process.env.TZ = "America/New_York";
  try {
    const [a, b] = [open({ app: "three" }), open({ app: "three" })];
    const runAt = new Date(Date.now() + 700);
    const { id } = await a.submit("g", { runAt });
    expect(await b.claim()).toEqual([]);
    expect((await b.units({ id })).units[0]?.runAt).toEqual(runAt);
    await expect.poll(async () => (await b.claim()).length, soon).toBe(1);
    expect(Date.now()).toBeGreaterThanOrEqual(runAt.getTime());
    await query(
      `insert into sole_writer.unit (app, graph, max_attempts, retry_first_ms, retry_most_ms, run_at)
       values ('three', 'h', 1, 1, 1, clock_timestamp() - interval '90 seconds')`,
    );
    const [counted] = await a.backlog("h");
    expect(Math.abs((counted?.oldestDueMs ?? 0) - 90_000)).toBeLessThan(1_000);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
