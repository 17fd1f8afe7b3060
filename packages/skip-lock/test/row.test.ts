import { isGrantLost, tick } from "@sole-writer/core";
import { sharedPostgres } from "@sole-writer/testbed";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

const server = await sharedPostgres();
const setFence = "update sole_writer.graph set fence = $1 where graph = 'graph'";

it("raises a fence that is ahead of the server's clock by one, exactly, also beyond 2^53", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  await (await granted(coordinator.acquire("graph"))).settle(done);
  await server.query(setFence, [String(2n ** 53n - 1n)], url);
  for (const step of [0n, 1n, 2n, 3n]) {
    const grant = await granted(coordinator.acquire("graph"));
    expect(grant.fence).toBe(2n ** 53n + step);
    await grant.settle(done);
  }
});

describe.each(["dedicated", "shared"] as const)("with a %s session", (session) => {
  it("settles nothing once the row has a newer fence, and lets the lock go", async () => {
    const url = await server.createDatabase();
    await using outdated = skipLock({ app: "warehouse", url, session });
    await using next = skipLock({ app: "warehouse", url });
    const window = "2026-12-03T06:00:00Z";
    const grant = await granted(outdated.acquire("graph", { window }));
    await server.query(setFence, [String(grant.fence + 1n)], url);

    const error: unknown = await grant.settle(done).catch((thrown: unknown) => thrown);
    expect(isGrantLost(error)).toBe(true);
    const [row] = await server.query("select last_window from sole_writer.graph", [], url);
    expect(row).toEqual({ last_window: null });
    // The release is under way; a round trip is what it needs.
    await expect
      .poll(() => tick(next, "graph", async () => "ran", { window }), { timeout: 2_000 })
      .toMatchObject({ status: "ran" });
  });
});

it("refuses a window that was settled between its two looks, and keeps no lock", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  const window = "2026-12-03T06:00:00Z";
  await (await granted(coordinator.acquire("graph"))).settle(done);

  const earlier = new Client(url);
  await earlier.connect();
  await earlier.query("begin; select from sole_writer.graph for update");
  const asking = coordinator.acquire("graph", { window });
  // It has the lock, and waits for the row that the holder before it is still writing.
  await expect
    .poll(() => server.query("select from pg_locks where not granted"), { timeout: 5_000 })
    .toHaveLength(1);
  await earlier.query(
    `update sole_writer.graph
     set last_window = '2026-12-03T06:00:00.000Z', last_window_at = '${window}'`,
  );
  await earlier.query("commit");
  await earlier.end();

  expect((await refused(asking)).reason).toBe("already-ran");
  const locks = await server.query(
    `select from pg_locks where locktype = 'advisory'
     and database = (select oid from pg_database where datname = current_database())`,
    [],
    url,
  );
  expect(locks).toEqual([]);
});
