import { AcquireAbortedError, tick } from "@sole-writer/core";
import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

const server = await sharedPostgres();

async function holdingOn(url: string) {
  const [held] = await server.query<{ sessions: number; locks: number }>(
    `select count(distinct pid)::int as sessions, count(*)::int as locks from pg_locks
     where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [],
    url,
  );
  return held;
}

const ours = `select count(*)::int as sessions from pg_stat_activity
  where application_name like 'sole-writer/%' and datname = current_database()`;

async function openCoordinators() {
  const url = await server.createDatabase();
  const options = { app: "warehouse", url };
  return {
    url,
    shared: skipLock({ ...options, session: "shared" }),
    dedicated: skipLock(options),
  };
}

const names = Array.from({ length: 50 }, (_, index) => `graph-${index}`);

it("holds 50 graphs on one session", async () => {
  const { url, shared, dedicated } = await openCoordinators();
  await using _ = shared;
  await using other = dedicated;
  const grants = await Promise.all(names.map((name) => granted(shared.acquire(name))));
  expect(await holdingOn(url)).toEqual({ sessions: 1, locks: 50 });
  // The session that looked after the schema is gone a moment after it was told good-bye.
  await expect.poll(() => server.query(ours, [], url)).toEqual([{ sessions: 1 }]);
  for (const name of names) {
    const refusal = await refused(other.acquire(name));
    expect(refusal.holder?.id).toBe(shared.holder.id);
  }
  await Promise.all(grants.map((grant) => grant.settle(done)));
  expect(await holdingOn(url)).toEqual({ sessions: 0, locks: 0 });
  for (const grant of grants) {
    const next = await granted(other.acquire(grant.graph));
    expect(next.fence).toBeGreaterThan(grant.fence);
    await next.settle(done);
  }
});

it("never has two writers of a graph, over shared and dedicated sessions", async () => {
  const { url, shared, dedicated } = await openCoordinators();
  await using one = shared;
  await using two = dedicated;
  await using three = skipLock({ app: "warehouse", url, session: "shared" });
  let writers = 0;
  let most = 0;
  let ran = 0;
  async function work() {
    writers += 1;
    most = Math.max(most, writers);
    await new Promise((resolve) => setImmediate(resolve));
    ran += 1;
    writers -= 1;
  }
  const competing = [one, two, three].map(async (coordinator) => {
    for (let ticks = 0; ticks < 60; ticks += 1) await tick(coordinator, "graph", work);
  });
  await Promise.all(competing);
  expect(most).toBe(1);
  expect(ran).toBeGreaterThan(0);
  expect(await holdingOn(url)).toEqual({ sessions: 0, locks: 0 });
});

it("does not end the grants of others because one acquire was given up", async () => {
  const { url, shared, dedicated } = await openCoordinators();
  await using one = shared;
  await using other = dedicated;
  const grants = await Promise.all(names.slice(0, 10).map((name) => granted(one.acquire(name))));
  for (const [index, name] of names.slice(10, 40).entries()) {
    const controller = new AbortController();
    const asked = one.acquire(name, { signal: controller.signal });
    // At once, and at some later turns of the event loop: while the statement is under way.
    for (let turns = index % 6; turns > 0; turns -= 1)
      await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    const answer = await asked.catch((error: unknown) => error);
    if (answer instanceof AcquireAbortedError) continue;
    await (await granted(asked)).settle(done);
  }
  for (const grant of grants) {
    await grant.confirmHeld();
    expect(grant.signal.aborted).toBe(false);
  }
  // Whatever was given up is free again, once the statements before this one are through.
  await (await granted(one.acquire("last"))).settle(done);
  for (const name of names.slice(10, 40)) await (await granted(other.acquire(name))).settle(done);
  expect((await holdingOn(url))?.locks).toBe(10);
  for (const grant of grants) await grant.settle(done);
});
