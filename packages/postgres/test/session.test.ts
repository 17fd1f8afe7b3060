import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { sharedPostgres } from "@sole-writer/testbed";
import { afterEach, expect, it } from "vitest";
import { openSession, type PostgresSession } from "../src/index.js";

const server = await sharedPostgres();
const open: PostgresSession[] = [];
afterEach(async () => {
  for (const session of open.splice(0)) await session.end();
});

const signal = AbortSignal.timeout(120_000);

async function sessionOn(url: string): Promise<PostgresSession> {
  const session = await openSession({ url, applicationName: "a session of a test", signal });
  open.push(session);
  return session;
}

it("sets up a session so that the server notices a vanished client and never ends it for idling", async () => {
  const url = await server.createDatabase();
  const database = new URL(url).pathname.slice(1);
  for (const hostile of [
    "statement_timeout = '1h'",
    "lock_timeout = '1h'",
    "idle_in_transaction_session_timeout = '1h'",
    "default_transaction_isolation = 'serializable'",
    "default_transaction_read_only = on",
    `"TimeZone" = 'Asia/Tokyo'`,
  ])
    await server.query(`alter database ${database} set ${hostile}`);
  const session = await sessionOn(url);
  const wanted = {
    application_name: "a session of a test",
    tcp_keepalives_idle: "5",
    tcp_keepalives_interval: "2",
    tcp_keepalives_count: "3",
    tcp_user_timeout: "10000",
    client_connection_check_interval: "1s",
    idle_session_timeout: "0",
    idle_in_transaction_session_timeout: "0",
    statement_timeout: "0",
    lock_timeout: "0",
    default_transaction_isolation: "read committed",
    default_transaction_read_only: "off",
    TimeZone: "UTC",
    ...(server.majorVersion >= 17 && { transaction_timeout: "0" }),
  };
  const rows = await session.run<{ name: string; value: string }>(
    { text: "select name, current_setting(name) as value from unnest($1::text[]) as name" },
    [Object.keys(wanted)],
  );
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(wanted);
  const [own] = await session.run<{ pid: number }>({ text: "select pg_backend_pid() as pid" }, []);
  expect(session.backendPid).toBe(own?.pid);
});

it("gives up a server that accepts and says nothing, at once when it is told to", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.resume()));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  try {
    const { port } = silent.address() as AddressInfo;
    const giveUp = new AbortController();
    const connected = once(silent, "connection");
    const opened = openSession({
      url: `postgres://reader:hush-hush@127.0.0.1:${port}/db`,
      applicationName: "a session of a test",
      signal: giveUp.signal,
    });
    opened.catch(() => undefined);
    const [socket] = (await connected) as [Socket];
    const gone = once(socket, "close");
    const reason = new Error("given up by the test");
    const toldAt = performance.now();
    giveUp.abort(reason);
    await expect(opened).rejects.toBe(reason);
    await gone;
    // Nothing is waited for, so a second is only for busy cores.
    expect(performance.now() - toldAt).toBeLessThan(1_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

it("opens nothing when it was given up before", async () => {
  const reason = new Error("too late");
  const options = {
    url: server.url(),
    applicationName: "never",
    signal: AbortSignal.abort(reason),
  };
  await expect(openSession(options)).rejects.toBe(reason);
});

const tryLock = { text: "select pg_try_advisory_lock(1, 2) as locked" };

it("frees its locks when it is destroyed, and says so once", async () => {
  const url = await server.createDatabase();
  const [session, other] = [await sessionOn(url), await sessionOn(url)];
  expect(await session.run(tryLock, [])).toEqual([{ locked: true }]);
  expect(await other.run(tryLock, [])).toEqual([{ locked: false }]);
  const causes: unknown[] = [];
  const ended = new Promise<void>((resolve) => {
    session.onEnd((cause) => {
      causes.push(cause);
      resolve();
    });
  });
  session.destroy();
  expect(session.isOpen).toBe(false);
  await ended;
  await session.end();
  expect(causes).toHaveLength(1);
  await expect(session.run(tryLock, [])).rejects.toThrow();
  // The server reads the end of the connection a moment after we made it.
  await expect.poll(() => other.run(tryLock, [])).toEqual([{ locked: true }]);
});

it("destroys the session when a statement is given up, though the server is still busy", async () => {
  const url = await server.createDatabase();
  const [session, other] = [await sessionOn(url), await sessionOn(url)];
  await session.run(tryLock, []);
  const giveUp = new AbortController();
  const slow = session.run({ text: "select pg_sleep(60)" }, [], giveUp.signal);
  slow.catch(() => undefined);
  const sleeping = {
    text: "select count(*)::int as n from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'",
  };
  await expect.poll(() => other.run(sleeping, [session.backendPid])).toEqual([{ n: 1 }]);
  const reason = new Error("given up by the test");
  giveUp.abort(reason);
  await expect(slow).rejects.toBe(reason);
  // client_connection_check_interval is 1 s; without it the lock would stay for a minute.
  await expect.poll(() => other.run(tryLock, []), { timeout: 5_000 }).toEqual([{ locked: true }]);
});

it("goes on after a statement that failed, in the order of asking", async () => {
  const session = await sessionOn(await server.createDatabase());
  const answers = await Promise.allSettled([
    session.run({ text: "select 1 as n" }, []),
    session.run({ text: "select nonsense" }, []),
    session.run({ text: "select 2 as n" }, []),
  ]);
  expect(answers).toMatchObject([
    { value: [{ n: 1 }] },
    { reason: { code: "42703" } },
    { value: [{ n: 2 }] },
  ]);
  await session.probe(signal);
  expect(session.isOpen).toBe(true);
});
