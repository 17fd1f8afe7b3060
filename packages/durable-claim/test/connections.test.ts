import { startProxy } from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterAll, expect, it } from "vitest";
import { durableClaim } from "../src/index.js";
import { claimOne, done, openDatabase, unitOf } from "./support/open.js";

const { open, query, url, server } = await openDatabase();
const proxy = await startProxy({ host: server.host, port: server.port });
afterAll(() => proxy.stop());
const byProxy = Object.assign(new URL(url), { host: `127.0.0.1:${proxy.port}` }).href;
const soon = { timeout: 5_000 };

const endSessions = () =>
  query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where application_name like 'sole-writer/%' and datname = current_database()`,
  );

it("settles, claims and renews on new sessions when the server ended the old ones", async () => {
  const coordinator = open({ app: "one" });
  await coordinator.submitMany([{ graph: "g" }, { graph: "g" }]);
  const first = await claimOne(coordinator);
  await endSessions();
  await first.confirmHeld();
  await endSessions();
  await first.settle(done);
  await endSessions();
  const second = await claimOne(coordinator);
  expect(second.fence).toBeGreaterThan(first.fence);
  await second.settle(done);
});

it("knows an ending that was recorded though its answer was lost with the connection", async () => {
  const coordinator = open({ app: "two", url: byProxy, wake: false });
  for (const ending of [done, { kind: "failed", error: new Error("no") }] as const) {
    const { id } = await coordinator.submit("g", { maxAttempts: 1 });
    const grant = await claimOne(coordinator);
    await proxy.set("noreply");
    const settled = grant.settle(ending);
    await expect
      .poll(async () => (await query("select state from sole_writer.unit where id = $1", [id]))[0])
      .not.toEqual({ state: "running" });
    await proxy.set("pass");
    await settled;
    expect(grant.signal.aborted).toBe(false);
    expect(await unitOf(coordinator, id)).toMatchObject({
      state: ending.kind === "done" ? "done" : "dead",
    });
  }
  const tick = await coordinator.acquire("h");
  if (!tick.granted) throw new Error(tick.message);
  await proxy.set("noreply");
  const settled = tick.settle(done);
  await expect
    .poll(async () => (await query("select lease_id from sole_writer.graph where graph = 'h'"))[0])
    .toEqual({ lease_id: null });
  await proxy.set("pass");
  await settled;
});

it("never leaves a transaction open, and nothing at all when it is closed", async () => {
  const coordinator = open({ app: "three", label: "leaves nothing" });
  await coordinator.submitMany(Array.from({ length: 50 }, () => ({ graph: "g" })));
  void coordinator.whenDue();
  for (let count = 0; count < 20; count += 1) {
    await (await claimOne(coordinator)).settle(done);
    const idle = await query(
      `select state from pg_stat_activity
       where application_name like '%leaves nothing' and state = 'idle in transaction'`,
    );
    expect(idle).toEqual([]);
  }
  const sessions = `select count(*)::int as count from pg_stat_activity
    where application_name like 'sole-writer/%leaves nothing'`;
  const [open3] = await query<{ count: number }>(sessions);
  // Claims; endings and questions; renewals; the one that listens.
  expect(open3?.count).toBe(4);
  await coordinator.close();
  await expect.poll(() => query(sessions), soon).toEqual([{ count: 0 }]);
  expect(await query("select from sole_writer.lease where app = 'three'")).toEqual([]);
});

it("goes where a pool goes, and takes nothing from it", async () => {
  const pool = new Pool({ connectionString: url, max: 1 });
  await using coordinator = durableClaim({ app: "of a pool", pool });
  await coordinator.submit("g", { payload: 1 });
  await (await claimOne(coordinator)).settle(done);
  expect(pool.totalCount).toBe(0);
  await pool.end();
});
