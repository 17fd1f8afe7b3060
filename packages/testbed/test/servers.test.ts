import {
  ensureServers,
  findServer,
  sharedPostgres,
  startEtcd,
  startEtcdCluster,
  startPgBouncer,
  startRedis,
} from "@sole-writer/testbed";
import { expect, it } from "vitest";

// A machine without a server, where none may be installed, must at least say what to do about it.
const [pgbouncer, redis, etcd] = await ensureServers(["pgbouncer", "redis-server", "etcd"]);

const backendPid = "SELECT pg_backend_pid() AS pid";

it("pools sessions with PgBouncer, or says how to have one", async () => {
  const server = await sharedPostgres();
  const options = { server, database: "postgres", user: "postgres", poolSize: 1 } as const;
  const start = startPgBouncer({ ...options, poolMode: "transaction" });
  if (!pgbouncer.found && !process.env.PGBOUNCER_URL) {
    await expect(start).rejects.toThrow("docker compose up -d pgbouncer");
    return;
  }
  await using pooler = await start;
  // Two connections to the pooler, one session behind it.
  const first = await server.query(backendPid, [], pooler.url());
  expect(await server.query(backendPid, [], pooler.url())).toEqual(first);
  const other = await server.createDatabase();
  const database = new URL(other).pathname.slice(1);
  const asked = await server.query("SELECT current_database() AS at", [], pooler.url({ database }));
  expect(asked).toEqual([{ at: database }]);
});

it("starts Redis, keeps or forgets its data over a restart, and stops", async () => {
  if (!redis.found) {
    await expect(startRedis()).rejects.toThrow("docker compose up -d redis");
    return;
  }
  await using server = await startRedis({ settings: { requirepass: "secret" } });
  expect(server.url).toBe(`redis://:secret@127.0.0.1:${server.port}`);
  await server.restart();
  await server.flush();
  await server.restart({ keepData: false });
  server.pause();
  server.resume();
  await server.shutDown("crash");
  await expect(server.flush()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await server.startAgain();
  await server.flush();
});

it("says why Redis did not start", async () => {
  if (!redis.found) return expect(redis.advice).toContain("REDIS_URL");
  const start = startRedis({ settings: { "no-such-directive": 1 } });
  await expect(start).rejects.toThrow(/Redis did not start.*no-such-directive/s);
});

it("starts etcd, which keeps its keys over a restart and forgets them when told to", async () => {
  if (!etcd.found) {
    await expect(startEtcd()).rejects.toThrow("docker compose up -d etcd");
    return;
  }
  await using server = await startEtcd();
  await putKey(server.url);
  await server.restart();
  expect(await countKeys(server.url)).toBe(1);
  await server.restart({ keepData: false });
  expect(await countKeys(server.url)).toBe(0);
  await putKey(server.url);
  await server.flush();
  expect(await countKeys(server.url)).toBe(0);
});

it("goes on with two of three members of an etcd cluster", async () => {
  if (!etcd.found) return expect(etcd.advice).toContain("ETCD_URL");
  await using cluster = await startEtcdCluster();
  const [first, second] = cluster.members;
  await first?.shutDown("crash");
  const url = second?.url ?? "";
  await expect.poll(() => putKey(url).then(() => "stored", String), untilElected).toBe("stored");
  await first?.startAgain();
  expect(await countKeys(first?.url ?? "")).toBe(1);
});

it("says what to do about a server that is nowhere", () => {
  const { PATH } = process.env;
  process.env.PATH = "";
  try {
    const found = findServer("etcd");
    if (!found.found) expect(found.advice).toMatch(/install-servers\.sh etcd.*docker compose up/);
    else expect(found.path).toMatch(/bin\/etcd$/);
  } finally {
    process.env.PATH = PATH;
  }
});

/** A new leader is chosen after 2 to 4 s of silence, later on a busy machine. */
const untilElected = { timeout: 30_000, interval: 100 };
const key = Buffer.from("key").toString("base64");

async function etcdCall(url: string, body: object): Promise<{ count?: string }> {
  const answer = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    // It keeps a request without a leader for many seconds; asking again is quicker.
    signal: AbortSignal.timeout(2_000),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as { count?: string };
}

function putKey(url: string): Promise<object> {
  return etcdCall(`${url}/v3/kv/put`, { key, value: key });
}

async function countKeys(url: string): Promise<number> {
  const { count } = await etcdCall(`${url}/v3/kv/range`, { key });
  return Number(count ?? 0);
}
