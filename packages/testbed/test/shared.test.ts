import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";

it("gives every caller an empty database of its own on one server", async () => {
  const server = await sharedPostgres();
  const [one, two] = await Promise.all([server.createDatabase(), server.createDatabase()]);
  await server.query("CREATE TABLE here (a int)", [], one);
  const tables = "SELECT to_regclass('here')::text AS found";
  expect(await server.query(tables, [], one)).toEqual([{ found: "here" }]);
  expect(await server.query(tables, [], two)).toEqual([{ found: null }]);
  expect(await sharedPostgres()).toBe(server);
});
