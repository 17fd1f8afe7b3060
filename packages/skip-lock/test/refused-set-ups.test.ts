import { randomUUID } from "node:crypto";
import { setTimeout as afterMs } from "node:timers/promises";
import type { CoordinatorEvent } from "@sole-writer/core";
import { migrationSql } from "@sole-writer/postgres";
import {
  ensureServers,
  freePort,
  sharedPostgres,
  startPgBouncer,
  startPostgres,
} from "@sole-writer/testbed";
import { afterAll, expect, it } from "vitest";
import { type SkipLockOptions, skipLock } from "../src/index.js";
import { done, faulted, granted } from "./support/answers.js";

const server = await sharedPostgres();
const [pgbouncer] = await ensureServers(["pgbouncer"]);

const password = "hush-hush";
const made: { readonly role: string; readonly databaseUrl: string }[] = [];

// Roles belong to the server, not to a database, and so would outlive it.
afterAll(async () => {
  for (const { role, databaseUrl } of made)
    await server.query(`drop owned by ${role}; drop role ${role}`, [], databaseUrl);
});

/** Asks once, and answers with the fault: nothing else may have been told to anybody. */
async function faultOf(url: string, options: Partial<SkipLockOptions> = {}) {
  const events: CoordinatorEvent["type"][] = [];
  await using coordinator = skipLock({
    app: "warehouse",
    url,
    onEvent: ({ type }) => events.push(type),
    ...options,
  });
  const fault = await faulted(coordinator.acquire("graph"));
  expect(events).toEqual(["acquire-failed"]);
  expect(fault.message).toContain(`"graph"`);
  expect(String(fault.stack)).not.toContain(password);
  return fault;
}

/** A role with a password, and nothing but CONNECT; resolves with its URL for `databaseUrl`. */
async function roleOn(databaseUrl: string, sql = ""): Promise<{ role: string; url: string }> {
  const role = `sole_writer_role_${randomUUID().slice(0, 8)}`;
  await server.query(`create role ${role} login password '${password}' ${sql}`, [], databaseUrl);
  made.push({ role, databaseUrl });
  const url = Object.assign(new URL(databaseUrl), { username: role, password });
  return { role, url: url.href };
}

it("refuses a pooler, and leaves nothing behind on the session that is pooled", async ({
  skip,
}) => {
  if (!pgbouncer.found && !process.env.PGBOUNCER_URL) skip(`not run: ${pgbouncer.advice}`);
  const url = await server.createDatabase();
  const database = new URL(url).pathname.slice(1);
  const user = new URL(url).username;
  await using pooler = await startPgBouncer({
    server,
    database,
    user,
    password: new URL(url).password,
    poolMode: "transaction",
    poolSize: 1,
  });
  const state = `select pg_backend_pid() as pid, current_setting('application_name') as name,
      current_setting('tcp_keepalives_idle') as idle, current_setting('statement_timeout') as timeout,
      current_setting('client_connection_check_interval') as interval`;
  const [before] = await server.query<{ name: string }>(state, [], pooler.url());
  const fault = await faultOf(pooler.url());
  expect(fault.code).toBe("BACKEND_POOLED");
  expect(fault.message).toContain("Connect to PostgreSQL directly");
  // One session is pooled, so this is the one that answered us.
  const [after] = await server.query<{ name: string }>(state, [], pooler.url());
  expect(after).toEqual(before);
  const locks = await server.query(
    `select * from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
    [],
    url,
  );
  expect(locks).toEqual([]);
});

it("refuses a standby, whose locks would exclude nobody", async () => {
  await using primary = await startPostgres();
  await using standby = await primary.startStandby();
  expect(await faultOf(standby.url())).toMatchObject({
    code: "BACKEND_STANDBY",
    transient: false,
    message: expect.stringContaining("Connect to the primary"),
  });
  await using coordinator = skipLock({ app: "warehouse", url: primary.url() });
  await (await granted(coordinator.acquire("graph"))).settle(done);
});

it("says that a password is wrong, without repeating it", async () => {
  const url = Object.assign(new URL(await server.createDatabase()), { password }).href;
  expect(await faultOf(url)).toMatchObject({ code: "BACKEND_AUTH", transient: false });
});

it("says that no server is there", async () => {
  const url = `postgres://reader:${password}@127.0.0.1:${await freePort()}/db`;
  expect(await faultOf(url)).toMatchObject({ code: "BACKEND_UNREACHABLE", transient: true });
});

it("says that the database is missing", async () => {
  const url = Object.assign(new URL(await server.createDatabase()), { pathname: "/not_there" });
  expect(await faultOf(url.href)).toMatchObject({ code: "BACKEND_SCHEMA" });
});

it("says that connections ran out, and goes on once one is free", async () => {
  const database = await server.createDatabase();
  await server.query(migrationSql(), [], database);
  const { role, url } = await roleOn(database, "connection limit 1");
  await server.query(
    `grant usage on schema sole_writer to ${role};
     grant select, insert, update on all tables in schema sole_writer to ${role}`,
    [],
    database,
  );
  await using first = skipLock({ app: "warehouse", url });
  const grant = await granted(first.acquire("other"));
  expect(await faultOf(url)).toMatchObject({ code: "BACKEND_FULL", transient: true });
  await grant.settle(done);
  await first.close();
  await using second = skipLock({ app: "warehouse", url });
  await (await untilNotFull(() => second.acquire("graph"))).settle(done);
});

/** The server counts a session until its process is gone, a moment after we are told. */
async function untilNotFull(ask: () => ReturnType<ReturnType<typeof skipLock>["acquire"]>) {
  for (let triesLeft = 100; ; triesLeft -= 1) {
    const grant = await granted(ask()).catch((error: unknown) => {
      if (triesLeft === 0) throw error;
    });
    if (grant) return grant;
    await afterMs(20);
  }
}

it("says that a role may not make the schema, and works once somebody has made it", async () => {
  const database = await server.createDatabase();
  const { role, url } = await roleOn(database);
  const fault = await faultOf(url);
  expect(fault).toMatchObject({ code: "BACKEND_FORBIDDEN", transient: false });
  expect(fault.message).toContain("migrationSql()");
  expect(await faultOf(url, { migrate: false })).toMatchObject({ code: "BACKEND_SCHEMA" });

  await server.query(migrationSql(), [], database);
  expect(await faultOf(url)).toMatchObject({ code: "BACKEND_FORBIDDEN" });
  await server.query(
    `grant usage on schema sole_writer to ${role};
     grant select, insert, update on all tables in schema sole_writer to ${role}`,
    [],
    database,
  );
  await using coordinator = skipLock({ app: "warehouse", url });
  await (await granted(coordinator.acquire("graph"))).settle(done);
});
