import { sharedPostgres, spawnProcess } from "@sole-writer/testbed";
import { expect, it } from "vitest";

const script = new URL("./support/use-given-server.mjs", import.meta.url);

/** Runs the script with a server given to it by DATABASE_URL, and nothing known of this run. */
function onGivenServer(url: string) {
  return spawnProcess(script, {
    env: { DATABASE_URL: url, SOLE_WRITER_TESTBED_BROKER: undefined },
  });
}

it("gives every caller an empty database of its own on one server", async () => {
  const server = await sharedPostgres();
  const [one, two] = await Promise.all([server.createDatabase(), server.createDatabase()]);
  await server.query("CREATE TABLE here (a int)", [], one);
  const tables = "SELECT to_regclass('here')::text AS found";
  expect(await server.query(tables, [], one)).toEqual([{ found: "here" }]);
  expect(await server.query(tables, [], two)).toEqual([{ found: null }]);
  expect(await sharedPostgres()).toBe(server);
});

it("takes the server in DATABASE_URL, and drops there what it created, used or not", async () => {
  const server = await sharedPostgres();
  await using user = onGivenServer(server.url());
  const created = await user.nextMessage<{ database: string }>((message) => "database" in message);
  const name = new URL(created.database).pathname.slice(1);
  const isThere = "SELECT count(*)::int AS count FROM pg_database WHERE datname = $1";
  expect(new URL(created.database).port).toBe(String(server.port));
  expect(await server.query(isThere, [name])).toEqual([{ count: 1 }]);
  user.send("stop");
  expect(await user.exited).toEqual({ code: 0, signal: null });
  expect(await server.query(isThere, [name])).toEqual([{ count: 0 }]);
});

it("says so when the role of DATABASE_URL may not create databases", async () => {
  const server = await sharedPostgres();
  const user = `reader_${process.pid}`;
  await server.query(`CREATE ROLE ${user} LOGIN PASSWORD 'secret'`);
  await using reader = onGivenServer(server.url({ user, password: "secret" }));
  const { problem } = await reader.nextMessage<{ problem: string }>((m) => "problem" in m);
  expect(problem).toContain(`ALTER ROLE ${user} CREATEDB`);
  await reader.exited;
  await server.query(`DROP ROLE ${user}`);
});
