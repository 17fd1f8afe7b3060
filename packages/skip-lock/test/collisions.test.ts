import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

// "plumless" and "buckeroo" have one CRC-32, and so one lock key.
const server = await sharedPostgres();

it("refuses a name that shares its key with a graph that is held, and says with which", async () => {
  const url = await server.createDatabase();
  await using one = skipLock({ app: "warehouse", url, label: "pod-1" });
  await using other = skipLock({ app: "warehouse", url });
  const grant = await granted(one.acquire("plumless"));

  const refusal = await refused(other.acquire("buckeroo"));
  expect(refusal).toMatchObject({
    graph: "buckeroo",
    reason: "held",
    keySharedWith: "plumless",
    holder: { id: one.holder.id, label: "pod-1", fence: grant.fence },
  });
  expect(refusal.message).toContain('"buckeroo" itself is not running');
  expect((await refused(other.acquire("plumless"))).keySharedWith).toBeUndefined();

  await grant.settle(done);
  const turn = await granted(other.acquire("buckeroo"));
  expect(await other.inspect("buckeroo")).toMatchObject([{ state: "held", fence: turn.fence }]);
  expect(await other.inspect("plumless")).toMatchObject([{ state: "free", fence: grant.fence }]);
  expect(await refused(one.acquire("plumless"))).toMatchObject({ keySharedWith: "buckeroo" });
  await turn.settle(done);
});

it("shows as free what merely shares the key of a graph that is held", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  await (await granted(coordinator.acquire("buckeroo"))).settle(done);
  const grant = await granted(coordinator.acquire("plumless"));
  expect(await coordinator.inspect("buckeroo")).toMatchObject([{ state: "free" }]);
  expect(await coordinator.inspect("plumless")).toMatchObject([
    { state: "held", holder: { id: coordinator.holder.id } },
  ]);
  await grant.settle(done);
});

it("does not grant a shared key twice to one session, which the server would do", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url, session: "shared" });
  const grant = await granted(coordinator.acquire("plumless"));
  const both = await Promise.all([
    refused(coordinator.acquire("buckeroo")),
    refused(coordinator.acquire("plumless")),
  ]);
  expect(both.map(({ keySharedWith }) => keySharedWith)).toEqual(["plumless", undefined]);
  await grant.settle(done);

  const race = await Promise.all(["plumless", "buckeroo"].map((name) => coordinator.acquire(name)));
  const [winner, ...more] = race.filter((answer) => answer.granted);
  expect(more).toEqual([]);
  await winner?.settle(done);

  // Held once: one settle lets everybody else in.
  await using other = skipLock({ app: "warehouse", url });
  await (await granted(other.acquire("buckeroo"))).settle(done);
});

it("keeps the names apart with the single form of key", async () => {
  const url = await server.createDatabase();
  await using one = skipLock({ app: "warehouse", url, key: "single" });
  await using other = skipLock({ app: "warehouse", url, key: "single" });
  const grants = await Promise.all([
    granted(one.acquire("plumless")),
    granted(other.acquire("buckeroo")),
  ]);
  expect(await refused(other.acquire("plumless"))).toMatchObject({ holder: { id: one.holder.id } });
  for (const grant of grants) await grant.settle(done);
});
