import { sharedPostgres, spawnProcess } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

const server = await sharedPostgres();
const replica = new URL("./support/thousand-ticks.mjs", import.meta.url);

/** Bounds what takes some ms on an idle machine. */
const pollOptions = { timeout: 5_000, interval: 20 };

const ours = `application_name like 'sole-writer/%' and datname = current_database()`;
const advisory = `locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())`;

async function leftOn(url: string) {
  const [left] = await server.query<{ sessions: number; locks: number }>(
    `select (select count(*)::int from pg_stat_activity where ${ours}) as sessions,
      (select count(*)::int from pg_locks where ${advisory}) as locks`,
    [],
    url,
  );
  return left;
}

/** A backend process leaves the list a moment after its client was told good-bye. */
async function nothingLeftOn(url: string): Promise<void> {
  await expect.poll(() => leftOn(url), pollOptions).toEqual({ sessions: 0, locks: 0 });
}

it.each(["dedicated", "shared"])(
  "leaves no session, no lock and nothing that keeps a process alive after 1,000 ticks (%s)",
  async (session) => {
    const url = await server.createDatabase();
    await using child = spawnProcess(replica, { args: [url, session, "1000"] });
    expect(await child.nextMessage(() => true, 60_000)).toEqual({ ran: 1_000 });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.output()).toBe("");
    await nothingLeftOn(url);
  },
  90_000,
);

it("answers 100 tries in a row for a graph that is held with one session more", async () => {
  const url = await server.createDatabase();
  await using holder = skipLock({ app: "warehouse", url });
  await using loser = skipLock({ app: "warehouse", url });
  const grant = await granted(holder.acquire("graph"));
  const before = await leftOn(url);
  for (let tries = 0; tries < 100; tries += 1) await refused(loser.acquire("graph"));
  const after = await leftOn(url);
  expect(after?.locks).toBe(1);
  expect((after?.sessions ?? 0) - (before?.sessions ?? 0)).toBeLessThanOrEqual(1);
  await grant.settle(done);
  await Promise.all([holder.close(), loser.close()]);
  await nothingLeftOn(url);
});

it("leaves nothing behind when acquires are given up at any moment", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  await (await granted(coordinator.acquire("graph"))).settle(done);
  for (let delayMs = 0; delayMs < 20; delayMs += 1) {
    const answer = await coordinator
      .acquire("graph", { signal: AbortSignal.timeout(delayMs) })
      .catch(() => undefined);
    if (answer?.granted) await answer.settle(done);
  }
  await using other = skipLock({ app: "warehouse", url });
  await coordinator.close();
  await (await granted(other.acquire("graph"))).settle(done);
  await other.close();
  await nothingLeftOn(url);
});
