import { startProxy } from "@sole-writer/testbed";
import { afterAll, expect, it } from "vitest";
import { claimOne, done, openDatabase } from "./support/open.js";

const { open, query, url, server } = await openDatabase();
const proxy = await startProxy({ host: server.host, port: server.port });
afterAll(() => proxy.stop());
const byProxy = Object.assign(new URL(url), { host: `127.0.0.1:${proxy.port}` }).href;

const listeners = () =>
  query<{ pid: number }>(
    `select pid from pg_stat_activity
     where query like 'listen sole_writer_%' and datname = current_database()`,
  );
/** Opening the session, on a busy machine. */
const soon = { timeout: 5_000 };
const minuteMs = 60_000;

it("wakes another replica by a word, long before it would have looked", async () => {
  const [a, b] = [open({ app: "one" }), open({ app: "one", pollMs: minuteMs })];
  // The first word comes from having begun to listen.
  expect(await b.whenDue()).toBe("woken");
  const due = b.whenDue();
  await a.submit("g", { payload: "x".repeat(100_000) });
  expect(await due).toBe("woken");
  await (await claimOne(b)).settle(done);
});

it("hears of what is submitted in quick succession, of a hand-back, a retry and a resume", async () => {
  const [a, b] = [open({ app: "two" }), open({ app: "two", pollMs: minuteMs })];
  expect(await b.whenDue()).toBe("woken");
  for (let count = 0; count < 5; count += 1) await a.submit("g", {});
  for (let count = 0; count < 5; count += 1) {
    let [grant] = await b.claim();
    while (!grant) {
      expect(await b.whenDue()).toBe("woken");
      [grant] = await b.claim();
    }
    await grant.settle(done);
  }
  const { id } = await a.submit("g", { maxAttempts: 1 });
  const acts = [
    async () => (await claimOne(a)).settle({ kind: "handed-back", reason: "test" }),
    async () => {
      await (await claimOne(a)).settle({ kind: "waiting", on: "you" });
      await a.resume(id, "yes");
    },
    async () => {
      await (await claimOne(a)).settle({ kind: "failed", error: "no" });
      await a.retry(id);
    },
  ];
  for (const act of acts) {
    const due = b.whenDue();
    await act();
    expect(await due).toBe("woken");
  }
});

it("says nothing of a transaction that was rolled back", async () => {
  const { Client } = (await import("pg")).default;
  const [a, b] = [open({ app: "three" }), open({ app: "three", pollMs: 700 })];
  expect(await b.whenDue()).toBe("woken");
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await a.submit("g", {}, { client });
  const due = b.whenDue();
  await client.query("rollback");
  await client.end();
  expect(await due).toBe("poll");
});

it("listens again when its session was ended, and looks in the meantime", async () => {
  const [a, b] = [open({ app: "four", wake: false }), open({ app: "four", pollMs: minuteMs })];
  expect(await b.whenDue()).toBe("woken");
  const before = await listeners();
  await query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where query like 'listen sole_writer_%' and datname = current_database()`,
  );
  // It is woken when it listens again: what was said in between was said to nobody.
  const due = b.whenDue();
  await a.submit("g", {});
  expect(await due).toBe("woken");
  await (await claimOne(b)).settle(done);
  const pids = new Set(before.map(({ pid }) => pid));
  await expect
    .poll(async () => (await listeners()).filter(({ pid }) => !pids.has(pid)).length, soon)
    .toBeGreaterThan(0);
});

it("looks at the pace of its poll when the network swallows every word", async () => {
  const pollMs = 300;
  const [a, b] = [open({ app: "five" }), open({ app: "five", url: byProxy, pollMs })];
  expect(await b.whenDue()).toBe("woken");
  await b.claim();
  await proxy.set("noreply");
  const since = performance.now();
  const due = b.whenDue();
  await a.submit("g", {});
  expect(await due).toBe("poll");
  // A tenth more or less, and the turn of a busy machine.
  expect(performance.now() - since).toBeLessThan(pollMs * 1.1 + 500);
  await proxy.set("pass");
});

it("leaves a server that is down alone, ever longer", async () => {
  const coordinator = open({ app: "six", url: byProxy, pollMs: 50, acquireTimeoutMs: 500 });
  await coordinator.claim();
  await coordinator.whenDue();
  await proxy.set("refuse");
  proxy.cut();
  let asked = 0;
  const until = performance.now() + 3_000;
  while (performance.now() < until) {
    asked += 1;
    await coordinator.claim().catch(() => undefined);
    await coordinator.whenDue({ signal: AbortSignal.timeout(3_000) });
  }
  // 50 ms, doubled each time. Without that it would be asked sixty times.
  expect(asked).toBeLessThan(12);
  await proxy.set("pass");
}, 20_000);
