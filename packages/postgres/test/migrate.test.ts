import { randomUUID } from "node:crypto";
import { type SpawnedProcess, sharedPostgres, spawnProcess } from "@sole-writer/testbed";
import { afterEach, expect, it } from "vitest";
import { ensureSchema, migrationSql, openSession, type PostgresSession } from "../src/index.js";

const server = await sharedPostgres();
const racer = new URL("./support/ensure-schema.mjs", import.meta.url);
const open: PostgresSession[] = [];
afterEach(async () => {
  for (const session of open.splice(0)) await session.end();
});

const signal = AbortSignal.timeout(120_000);

async function sessionOn(url: string): Promise<PostgresSession> {
  const session = await openSession({ url, applicationName: "migrating", signal });
  open.push(session);
  return session;
}

const versions = "select version from sole_writer.schema_version order by version";

it("lets twelve processes meet on an empty database, and all of them succeed", async () => {
  const url = await server.createDatabase();
  const racers = Array.from({ length: 12 }, () =>
    spawnProcess(racer, { args: [url, randomUUID()] }),
  );
  try {
    await Promise.all(racers.map((one) => one.nextMessage((message) => message === "ready")));
    for (let round = 0; round < 3; round += 1) {
      expect(await Promise.all(racers.map(race))).toEqual(racers.map(() => ({ rows: 0 })));
      expect(await server.query(versions, [], url)).toEqual([{ version: 1 }, { version: 2 }]);
      await server.query("drop schema sole_writer cascade", [], url);
    }
  } finally {
    await Promise.all(racers.map((one) => one.kill()));
  }
});

function race(one: SpawnedProcess): Promise<unknown> {
  one.send("go");
  return one.nextMessage(() => true, 30_000);
}

it("changes nothing when the schema is there, and keeps its rows", async () => {
  const url = await server.createDatabase();
  const session = await sessionOn(url);
  await ensureSchema(session, { create: true, signal });
  const row = "insert into sole_writer.graph (app, graph, fence) values ('a', 'g', 7)";
  await server.query(row, [], url);
  await ensureSchema(session, { create: true, signal });
  await ensureSchema(session, { create: false, signal });
  expect(await server.query("select graph, fence from sole_writer.graph", [], url)).toEqual([
    { graph: "g", fence: "7" },
  ]);
});

it("makes nothing when it shall not, and says what to do", async () => {
  const url = await server.createDatabase();
  const session = await sessionOn(url);
  await expect(ensureSchema(session, { create: false, signal })).rejects.toMatchObject({
    code: "BACKEND_SCHEMA",
    message: expect.stringContaining("migrationSql()"),
  });
  const found = await server.query("select to_regnamespace('sole_writer') as found", [], url);
  expect(found).toEqual([{ found: null }]);
});

it("prints the same migration as a script", async () => {
  const [byScript, byCall] = [await server.createDatabase(), await server.createDatabase()];
  await server.query(migrationSql(), [], byScript);
  await ensureSchema(await sessionOn(byCall), { create: true, signal });
  await ensureSchema(await sessionOn(byScript), { create: false, signal });
  const columns = `select table_name, column_name, data_type, is_nullable
    from information_schema.columns where table_schema = 'sole_writer' order by 1, 2`;
  const made = await server.query(columns, [], byScript);
  expect(made.length).toBeGreaterThan(10);
  expect(made).toEqual(await server.query(columns, [], byCall));
  // From the newest version on there is nothing to do, and it does no harm.
  await server.query(migrationSql(2), [], byScript);
  expect(await server.query(versions, [], byScript)).toEqual([{ version: 1 }, { version: 2 }]);
});

it("leaves no half of a migration when it is given up", async () => {
  const url = await server.createDatabase();
  const blocker = await sessionOn(url);
  await blocker.run({ text: "select pg_advisory_lock(8317986219828078964)" }, []);
  const session = await sessionOn(url);
  const giveUp = new AbortController();
  const migrated = ensureSchema(session, { create: true, signal: giveUp.signal });
  migrated.catch(() => undefined);
  const waiting = `select count(*)::int as waiting from pg_locks where not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(() => server.query(waiting, [], url)).toEqual([{ waiting: 1 }]);
  giveUp.abort(new Error("given up by the test"));
  await expect(migrated).rejects.toThrow("given up by the test");
  expect(session.isOpen).toBe(false);
  await blocker.end();
  await ensureSchema(await sessionOn(url), { create: true, signal });
  expect(await server.query(versions, [], url)).toEqual([{ version: 1 }, { version: 2 }]);
});
