import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

// A plan that evaluates the try twice takes the lock twice, and one release then leaves one behind.
const server = await sharedPostgres();

const roads = [
  "enable_hashjoin",
  "enable_mergejoin",
  "enable_nestloop",
  "enable_material",
  "enable_sort",
  "enable_hashagg",
  "enable_indexscan",
  "enable_indexonlyscan",
  "enable_bitmapscan",
  "enable_seqscan",
];
const closings: readonly (readonly string[])[] = [
  [],
  ...roads.map((road) => [road]),
  ["enable_hashjoin", "enable_mergejoin"],
  ["enable_hashjoin", "enable_nestloop"],
  ["enable_mergejoin", "enable_nestloop"],
  roads,
];

it.each(closings.map((closed) => ({ named: closed.join(", ") || "nothing", closed })))(
  "takes a lock once with $named turned off",
  async ({ closed }) => {
    const url = await server.createDatabase();
    const database = new URL(url).pathname.slice(1);
    await server.query(`alter database ${database} set plan_cache_mode = 'force_generic_plan'`);
    for (const road of closed) await server.query(`alter database ${database} set ${road} = off`);
    for (const key of ["pair", "single"] as const) {
      await using one = skipLock({ app: `with-${key}`, url, key, session: "shared" });
      await using other = skipLock({ app: `with-${key}`, url, key });
      // A session that stays open: a lock that was taken twice is seen by everybody else.
      for (let round = 0; round < 3; round += 1) {
        const grant = await granted(one.acquire("graph", { window: `window-${round}` }));
        expect(await refused(other.acquire("graph"))).toMatchObject({
          holder: { id: one.holder.id, fence: grant.fence },
        });
        await grant.settle(done);
        await (await granted(other.acquire("graph"))).settle(done);
        expect(await refused(one.acquire("graph", { window: `window-${round}` }))).toMatchObject({
          reason: "already-ran",
        });
      }
    }
  },
);
