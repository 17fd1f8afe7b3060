import { migrationSql } from "@sole-writer/postgres";
import { Client } from "pg";
import { expect, it } from "vitest";
import { claimOne, done, openDatabase } from "./support/open.js";

const { open, query, url } = await openDatabase();

it("two schemas do not know each other, whatever the names of application, graph and key", async () => {
  const [one, two] = [open({ schema: "one" }), open({ schema: "two" })];
  const [a, b] = await Promise.all(
    [one, two].map((there) => there.submit("g", { key: "k", payload: there === one ? "a" : "b" })),
  );
  expect([a?.isNew, b?.isNew]).toEqual([true, true]);
  const [first, second] = [await claimOne(one), await claimOne(two)];
  expect([first.unit?.payload, second.unit?.payload]).toEqual(["a", "b"]);
  await Promise.all([first.settle(done), second.settle(done)]);
  expect(await query("select state from one.unit union all select state from two.unit")).toEqual([
    { state: "done" },
    { state: "done" },
  ]);
  expect(await query("select to_regnamespace('sole_writer') as there")).toEqual([{ there: null }]);
});

it("is written in the caller's own transaction as well", async () => {
  const there = open({ app: "inside", schema: "one" });
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await there.submit("g", { payload: 1 }, { client });
  expect(await there.backlog("g")).toEqual([]);
  await client.query("commit");
  await client.end();
  await (await claimOne(there)).settle(done);
});

it("may be made by hand, and is then not made again", async () => {
  await query(migrationSql(0, "by_hand"));
  const there = open({ schema: "by_hand", migrate: false });
  await there.submit("g", {});
  await (await claimOne(there)).settle(done);
  const missing = open({ schema: "missing", migrate: false });
  await expect(missing.submit("g", {})).rejects.toMatchObject({
    code: "BACKEND_SCHEMA",
    message: expect.stringContaining("The schema missing is at version 0"),
  });
});

it.each(["", "A", "pg_mine", "a b", 'a"; drop table x; --', "1st", "x".repeat(64)])(
  "a name that needs quotes is refused: %s",
  (schema) => {
    expect(() => open({ schema })).toThrow(/schema must be 1 to 63 lower-case letters/);
    expect(() => migrationSql(0, schema)).toThrow(/schema must be/);
  },
);
