import { expect, it } from "vitest";
import { done, openDatabase, unitOf } from "./support/open.js";

const { open, query } = await openDatabase();
const leaseMs = 500;
const soon = { timeout: 5_000 };

it('runs units of one graph side by side with exclusive: "unit", each of them once', async () => {
  const replicas = [1, 2, 3].map(() => open({ app: "one", exclusive: "unit" }));
  const [a] = replicas;
  await a?.submitMany(Array.from({ length: 60 }, () => ({ graph: "g" })));
  const claims = await Promise.all(replicas.map((one) => one.claim({ limit: 20 })));
  const grants = claims.flat();
  // What two looked at in the same moment is passed over by one of them.
  for (let rest = await a?.claim({ limit: 60 }); rest?.length; rest = await a?.claim({ limit: 60 }))
    grants.push(...rest);
  expect(new Set(grants.map(({ unit }) => unit?.id)).size).toBe(60);
  expect(grants).toHaveLength(60);
  await Promise.all(grants.map((grant) => grant.settle(done)));
  expect(await a?.backlog()).toEqual([]);
});

it("keeps to the limit of parallel units, over all replicas and at any moment", async () => {
  const replicas = [1, 2, 3, 4].map(() => open({ app: "two", exclusive: "unit", parallel: 3 }));
  const [a] = replicas;
  await a?.submitMany(Array.from({ length: 60 }, (_, index) => ({ graph: index % 2 ? "g" : "h" })));
  let left = 60;
  let most = 0;
  const fences = new Map<string, bigint[]>();
  async function workOff(one: (typeof replicas)[number]): Promise<void> {
    while (left > 0) {
      for (const grant of await one.claim({ limit: 5 })) {
        const known = fences.get(grant.graph) ?? [];
        fences.set(grant.graph, [...known, grant.fence]);
        const [{ running } = { running: 0 }] = await query<{ running: number }>(
          `select max(count)::int as running from (
             select count(*) from sole_writer.unit
             where app = 'two' and state = 'running' group by graph
           ) as counted`,
        );
        most = Math.max(most, running);
        await grant.settle(done);
        left -= 1;
      }
    }
  }
  await Promise.all(replicas.map(workOff));
  expect(left).toBe(0);
  expect(most).toBe(3);
  for (const ofGraph of fences.values()) expect(new Set(ofGraph).size).toBe(ofGraph.length);
});

it("gives an acquire the next unit, and says so when there is none", async () => {
  const a = open({ app: "three", exclusive: "unit" });
  await a.submitMany([{ graph: "g" }, { graph: "g" }]);
  const grants = [await a.acquire("g"), await a.acquire("g")];
  expect(grants.every(({ granted }) => granted)).toBe(true);
  expect(await a.acquire("g")).toMatchObject({ granted: false, reason: "nothing-due" });
  await expect(a.acquire("g", { window: "w" })).rejects.toMatchObject({ code: "INVALID_OPTION" });
});

it("takes a unit back from a process that is gone, and tells it so", async () => {
  const [a, b] = [1, 2].map(() => open({ app: "four", exclusive: "unit", leaseMs }));
  const { id } = (await a?.submit("g", {})) ?? { id: "" };
  const [grant] = (await a?.claim()) ?? [];
  await query("update sole_writer.lease set expires_at = clock_timestamp() where app = 'four'");
  await expect
    .poll(async () => (await b?.claim())?.[0]?.unit, soon)
    .toMatchObject({ id, attempt: 2 });
  await expect(grant?.settle(done)).rejects.toMatchObject({ code: "GRANT_LOST" });
  if (b) expect(await unitOf(b, id)).toMatchObject({ state: "running", attempt: 2 });
});
