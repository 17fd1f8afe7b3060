import { setTimeout as afterMs } from "node:timers/promises";
import type { CoordinatorEvent, Grant } from "@sole-writer/core";
import { isGrantLost } from "@sole-writer/core";
import { type PostgresServer, startPostgres } from "@sole-writer/testbed";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SkipLockOptions, skipLock } from "../src/index.js";
import { done, granted } from "./support/answers.js";

// A server of its own, because it is restarted.
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** The server closes the socket, so nothing has to be waited for; a second is for two busy cores. */
const toldWithinMs = 1_000;

async function openOn(url: string, options: Partial<SkipLockOptions> = {}) {
  const lost: CoordinatorEvent[] = [];
  const onEvent = (event: CoordinatorEvent) => {
    if (event.type === "lost") lost.push(event);
  };
  return { lost, coordinator: skipLock({ app: "warehouse", url, onEvent, ...options }) };
}

/** Does `harm`, and resolves with how long after its end the grant was told. */
async function lossTold(grant: Grant, harm: () => Promise<unknown>): Promise<number> {
  const told = new Promise<number>((resolve) =>
    grant.signal.addEventListener("abort", () => resolve(performance.now())),
  );
  await harm();
  const harmedAt = performance.now();
  return (await told) - harmedAt;
}

/** Every session of ours on the server, seen from another. */
const endOurs = `select count(pg_terminate_backend(pid, 5000))::int as ended
  from pg_stat_activity where application_name like 'sole-writer/%'`;

it.each(["dedicated", "shared"] as const)(
  "tells a grant on a %s session that an administrator ended it",
  async (session) => {
    const url = await server.createDatabase();
    const { coordinator, lost } = await openOn(url, { session });
    await using _ = coordinator;
    const grant = await granted(coordinator.acquire("graph"));
    const lateMs = await lossTold(grant, async () => {
      expect(await server.query(endOurs)).toEqual([{ ended: 1 }]);
    });
    expect(lateMs).toBeLessThan(toldWithinMs);
    expect(isGrantLost(grant.signal.reason)).toBe(true);
    expect(grant.signal.reason).toMatchObject({ graph: "graph", fence: grant.fence });
    expect(() => grant.assertHeld()).toThrow(grant.signal.reason);
    await expect(grant.settle(done)).rejects.toBe(grant.signal.reason);

    const next = await granted(coordinator.acquire("graph"));
    expect(next.fence).toBeGreaterThan(grant.fence);
    await next.settle(done);
    expect(lost).toMatchObject([{ type: "lost", graph: "graph", fence: grant.fence }]);
  },
);

it("tells every grant of a coordinator that the server crashed, and goes on when it is back", async () => {
  const url = await server.createDatabase();
  const { coordinator, lost } = await openOn(url);
  await using _ = coordinator;
  const first = await granted(coordinator.acquire("first"));
  const second = await granted(coordinator.acquire("second"));
  let crash: Promise<void> | undefined;
  const harm = () => (crash ??= server.shutDown("immediate"));
  for (const lateMs of await Promise.all([lossTold(first, harm), lossTold(second, harm)]))
    expect(lateMs).toBeLessThan(toldWithinMs);
  for (const grant of [first, second])
    await expect(grant.settle(done)).rejects.toBe(grant.signal.reason);

  await server.startAgain();
  const next = await granted(coordinator.acquire("first"));
  expect(next.fence).toBeGreaterThan(first.fence);
  await next.settle(done);
  expect(lost.map(({ graph }) => graph).sort()).toEqual(["first", "second"]);
});

it("keeps a grant on a role whose idle sessions are ended after a second", async () => {
  const url = await server.createDatabase();
  await server.query("create role hurried login superuser password 'hurried'");
  await server.query("alter role hurried set idle_session_timeout = '1s'");
  await server.query("alter role hurried set idle_in_transaction_session_timeout = '1s'");
  const { coordinator, lost } = await openOn(
    Object.assign(new URL(url), { username: "hurried", password: "hurried" }).href,
  );
  await using _ = coordinator;
  const grant = await granted(coordinator.acquire("graph"));
  // Three times what the role allows: what must not happen leaves no event to wait for.
  await afterMs(3_200);
  await grant.confirmHeld();
  await grant.settle(done);
  expect(lost).toEqual([]);
});
