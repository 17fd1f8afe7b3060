import pg from "pg";
import { expect, it } from "vitest";
import { claimOne, done, openDatabase, unitOf } from "./support/open.js";

const { open, url } = await openDatabase();

async function client() {
  const connected = new pg.Client({ connectionString: url });
  await connected.connect();
  return connected;
}

it("stores a unit with the caller's transaction, and not when that is rolled back", async () => {
  const coordinator = open({ app: "one" });
  const own = await client();
  await own.query("begin");
  const kept = await coordinator.submit("g", { payload: "kept" }, { client: own });
  expect(kept.isNew).toBe(true);
  expect(await coordinator.claim()).toEqual([]);
  await own.query("commit");
  await own.query("begin");
  await coordinator.submit("g", { payload: "gone" }, { client: own });
  await own.query("rollback");
  await own.end();
  const grant = await claimOne(coordinator);
  expect(grant.unit).toMatchObject({ id: kept.id, payload: "kept" });
  await grant.settle(done);
  expect(await coordinator.claim()).toEqual([]);
});

it("lets nobody wait for a transaction of a caller that stays open", async () => {
  const coordinator = open({ app: "two" });
  const own = await client();
  await own.query("begin");
  await coordinator.submit("new graph", { key: "mine" }, { client: own });
  // A graph that nobody had before: its lane must not hang on the open transaction.
  await coordinator.submit("new graph", { key: "other" });
  await (await claimOne(coordinator)).settle(done);
  await own.query("rollback");
  await own.end();
});

it("answers each of a batch in order, with one id for a key that comes twice", async () => {
  const coordinator = open({ app: "three" });
  const { id: there } = await coordinator.submit("g", { key: "there" });
  const answers = await coordinator.submitMany([
    { graph: "g", key: "new" },
    { graph: "g" },
    { graph: "g", key: "there" },
    { graph: "g", key: "new" },
    { graph: "h", key: "there" },
  ]);
  const [fresh, plain, old, twin, other] = answers;
  expect(answers.map(({ isNew }) => isNew)).toEqual([true, true, false, false, true]);
  expect(old?.id).toBe(there);
  expect(twin?.id).toBe(fresh?.id);
  expect(new Set([there, fresh?.id, plain?.id, other?.id]).size).toBe(4);
  expect(await coordinator.submitMany([])).toEqual([]);
});

it("stores a batch whole or not at all", async () => {
  const coordinator = open({ app: "four" });
  const batch = [{ graph: "g" }, { graph: "g", payload: "\u0000" }];
  await expect(coordinator.submitMany(batch)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("NUL"),
  });
  await expect(coordinator.submitMany([{ graph: "g" }, { graph: " " }])).rejects.toMatchObject({
    code: "INVALID_NAME",
  });
  expect((await coordinator.units()).units).toEqual([]);
});

it("brings ten thousand units of one call in, in order", async () => {
  const coordinator = open({ app: "five" });
  const units = Array.from({ length: 10_000 }, (_, index) => ({ graph: "g", payload: index }));
  const answers = await coordinator.submitMany(units);
  const first = await claimOne(coordinator);
  expect(first.unit).toMatchObject({ id: answers[0]?.id, payload: 0 });
  await first.settle(done);
  const last = await unitOf(coordinator, answers.at(-1)?.id ?? "");
  expect(last?.payload).toBe(9_999);
  let seen = 0;
  for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const page = await coordinator.units({ limit: 1_000, ...(after && { after }) });
    seen += page.units.length;
    after = page.next;
  }
  expect(seen).toBe(10_000);
});

it("cleans and bounds the reason of a failure, and never fails by it", async () => {
  const coordinator = open({ app: "six" });
  const errors = [
    new Error(`bell \u0007 and NUL \u0000 and half \ud800 ${"x".repeat(100_000)}`),
    {
      toString() {
        throw new Error("no");
      },
    },
    undefined,
  ];
  for (const error of errors) {
    const { id } = await coordinator.submit("g", { maxAttempts: 1 });
    await (await claimOne(coordinator)).settle({ kind: "failed", error });
    const dead = await unitOf(coordinator, id);
    expect(dead?.state).toBe("dead");
    expect(dead?.reason?.length).toBeLessThan(2_100);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(dead?.reason).not.toMatch(/[\u0000\u0007]/);
  }
});
