import pg from "pg";
import { expect, it } from "vitest";
import { claimOne, done, openDatabase, unitOf } from "./support/open.js";

const { open, query, url } = await openDatabase();
const leaseMs = 500;
/** Longer than a lease and a pause. */
const soon = { timeout: 5_000 };

/** As a process that was killed: its lease is over, and nobody has looked yet. */
async function endLease(label: string): Promise<void> {
  await query(
    "update sole_writer.lease set expires_at = clock_timestamp() where holder_label = $1",
    [label],
  );
}

/** A session of somebody else that keeps a row locked until it commits. */
async function lockUnit(id: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query("select from sole_writer.unit where id = $1 for update", [id]);
  return {
    client,
    async commit() {
      await client.query("commit");
      await client.end();
    },
  };
}

it("leaves a unit as it is that is finished while the sweep looks at it", async () => {
  const [a, b] = [open({ app: "one", label: "a1" }), open({ app: "one" })];
  const { id } = await a.submit("g", { maxAttempts: 3 });
  const grant = await claimOne(a);
  const lock = await lockUnit(id);
  await endLease("a1");
  // The sweep does not wait for the row; what it cannot have it leaves.
  expect(await b.claim()).toEqual([]);
  await lock.client.query(
    "update sole_writer.unit set state = 'done', lease_id = null where id = $1 and fence = $2",
    [id, String(grant.fence)],
  );
  await lock.commit();
  expect(await b.claim()).toEqual([]);
  expect(await unitOf(b, id)).toMatchObject({ state: "done", attempt: 1 });
});

it("counts one attempt when many sweep at once", async () => {
  const owner = open({ app: "two", label: "a2" });
  const sweepers = Array.from({ length: 5 }, () => open({ app: "two", wake: false }));
  const { id } = await owner.submit("g", { maxAttempts: 3 });
  await claimOne(owner);
  await Promise.all(sweepers.map((one) => one.inspect()));
  await endLease("a2");
  // The first round may sweep and claim already; what any of them got counts.
  const attempts: (number | undefined)[] = [];
  await expect
    .poll(async () => {
      const claims = await Promise.all(sweepers.map((one) => one.claim()));
      attempts.push(...claims.flat().map(({ unit }) => unit?.attempt));
      return attempts;
    }, soon)
    .toEqual([2]);
  expect((await Promise.all(sweepers.map((one) => one.claim()))).flat()).toEqual([]);
  expect(await unitOf(owner, id)).toMatchObject({ state: "running", attempt: 2 });
});

it("does not let a lease be renewed or claimed by that is over", async () => {
  const a = open({ app: "three", label: "a3", leaseMs, wake: false });
  await a.submitMany([{ graph: "g" }, { graph: "h" }]);
  const [first] = await a.claim();
  await endLease("a3");
  await expect(first?.confirmHeld()).rejects.toMatchObject({ code: "GRANT_LOST" });
  await expect(first?.settle(done)).rejects.toMatchObject({ code: "GRANT_LOST" });
  const [second] = await a.claim();
  expect(second).toBeDefined();
  await second?.settle(done);
});

it("gives free what points to a lease that is not there", async () => {
  const a = open({ app: "four", label: "a4", leaseMs });
  const { id } = await a.submit("g", {});
  const grant = await claimOne(a);
  await query("delete from sole_writer.lease where holder_label = 'a4'");
  await expect.poll(async () => grant.signal.aborted, soon).toBe(true);
  await expect(grant.settle(done)).rejects.toMatchObject({ code: "GRANT_LOST" });
  await expect.poll(async () => (await unitOf(a, id))?.state, soon).toBe("queued");
});

it("goes past a row that somebody has locked, and comes back to it", async () => {
  const a = open({ app: "five" });
  const { id: locked } = await a.submit("g", {});
  const { id: free } = await a.submit("g", {});
  const lock = await lockUnit(locked);
  const first = await claimOne(a);
  expect(first.unit?.id).toBe(free);
  await first.settle(done);
  await lock.commit();
  const second = await claimOne(a);
  expect(second.unit?.id).toBe(locked);
  await second.settle(done);
});
