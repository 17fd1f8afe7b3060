import { type CoordinatorEvent, tick } from "@sole-writer/core";
import { type RedisServer, startRedis } from "@sole-writer/testbed";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RedisLeaseOptions, redisLease } from "../src/redis/index.js";

let server: RedisServer;
let outside: Redis;
let opened: AsyncDisposable[];
beforeEach(async () => {
  server = await startRedis();
  outside = new Redis(server.url);
  outside.on("error", () => undefined);
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one[Symbol.asyncDispose]()));
  outside.disconnect();
  await server.stop();
});

function open(options: Partial<RedisLeaseOptions> = {}) {
  const coordinator = redisLease({ app: "test", url: server.url, ...options });
  opened.push(coordinator);
  return coordinator;
}

it("a thousand short grants with a beat every 5 ms bring no loss, and leave no lease", async () => {
  const events: CoordinatorEvent[] = [];
  const coordinator = open({ ttlMs: 500, renewEveryMs: 5, onEvent: (event) => events.push(event) });
  for (let round = 0; round < 1_000; round += 1) {
    const outcome = await tick(coordinator, "g", () => new Promise((go) => setTimeout(go, 10)));
    expect(outcome.status).toBe("ran");
  }
  expect(events.filter(({ type }) => type === "lost")).toEqual([]);
  expect(await outside.keys("*:lease")).toEqual([]);
  expect(await outside.keys("*")).toHaveLength(2);
});

it("of 32 replicas at a barrier one runs, in every round", async () => {
  const replicas = Array.from({ length: 32 }, () => open());
  for (let round = 0; round < 100; round += 1) {
    const answers = await Promise.all(replicas.map((replica) => replica.acquire("g")));
    const granted = answers.filter((answer) => answer.granted);
    expect(granted).toHaveLength(1);
    await granted[0]?.settle({ kind: "done" });
  }
});

it("asks again with the right time after the server's clock was set forward", async () => {
  const coordinator = open();
  await (await grantOf(coordinator, "warm")).settle({ kind: "done" });
  const now = performance.now.bind(performance);
  // Ours set back by an hour is the server's set forward by one.
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() - 3_600_000);
  try {
    await expect(coordinator.acquire("g")).rejects.toMatchObject({ code: "BACKEND_FAULT" });
    await (await grantOf(coordinator, "g")).settle({ kind: "done" });
  } finally {
    clock.mockRestore();
  }
});

describe("a server that stands still", () => {
  it("carries out nothing that was given up when it goes on", async () => {
    const [a, b] = [open({ acquireTimeoutMs: 300 }), open()];
    // Connected before, so that the question is on its way when it is given up.
    await (await grantOf(a, "warm")).settle({ kind: "done" });
    server.pause();
    await expect(a.acquire("g")).rejects.toMatchObject({ code: "BACKEND_TIMEOUT" });
    server.resume();
    const grant = await grantOf(b, "g");
    expect(await outside.hget("sole-writer:{test/g}:lease", "holder")).toBe(b.holder.id);
    await grant.settle({ kind: "done" });
  });

  it("for longer than a lease: its holder is told before the lease ends, and revives nothing", async () => {
    const [a, b] = [open({ ttlMs: 1_000 }), open({ ttlMs: 1_000 })];
    const grant = await grantOf(a, "g");
    const startedAt = performance.now();
    server.pause();
    await new Promise((resolve) => grant.signal.addEventListener("abort", resolve));
    // 900 ms after the last good renewal was sent, and time for a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(1_400);
    server.resume();
    await expect.poll(async () => (await b.acquire("g")).granted, { timeout: 5_000 }).toBe(true);
    expect(await outside.hget("sole-writer:{test/g}:lease", "holder")).toBe(b.holder.id);
    await expect(grant.settle({ kind: "done" })).rejects.toMatchObject({ code: "GRANT_LOST" });
    expect(await outside.hget("sole-writer:{test/g}:lease", "holder")).toBe(b.holder.id);
  });
});

it("a fence steps up by one where the clock is behind, exactly, over 2^53 and from 9 to 10", async () => {
  const coordinator = open();
  for (const seed of ["9007199254740990", "9007199254740993", "9223372036854775000"]) {
    await outside.hset("sole-writer:{test/g}", "fence", seed);
    for (const step of [1n, 2n, 3n]) {
      const grant = await grantOf(coordinator, "g");
      expect(grant.fence).toBe(BigInt(seed) + step);
      await grant.settle({ kind: "done" });
    }
  }
});

it("names with braces, slashes and stars are graphs of their own", async () => {
  const coordinator = open();
  const names = ["{x}", "a/b", "a", "*", "%7Bx%7D", "café", "a}:lease"];
  const grants = await Promise.all(names.map((name) => grantOf(coordinator, name)));
  expect((await coordinator.inspect()).map(({ graph }) => graph).sort()).toEqual([...names].sort());
  await Promise.all(grants.map((grant) => grant.settle({ kind: "done" })));
});

it("takes over the options of a client, and leaves the client alone", async () => {
  const coordinator = redisLease({ app: "test", client: outside });
  await (await grantOf(coordinator, "g")).settle({ kind: "done" });
  await coordinator.close();
  expect(await outside.ping()).toBe("PONG");
});

it("preflight finds what is wrong with the settings", async () => {
  expect(await open().preflight()).toEqual([]);
  await outside.config("SET", "maxmemory", "100mb");
  await outside.config("SET", "maxmemory-policy", "allkeys-lru");
  await outside.config("SET", "appendonly", "no");
  const codes = (await open().preflight()).map(({ code, severity }) => `${severity} ${code}`);
  expect(codes).toEqual(["error evicts-keys", "warning forgets-leases"]);
});

it.each([
  [{ ttlMs: 10 }, /ttlMs must be .* milliseconds/],
  [{ ttlMs: 30.5 }, /ttlMs/],
  [{ renewEveryMs: 9_500 }, /renewEveryMs .* must be less than ttlMs - safetyMarginMs/],
  [{ url: "postgres://x" }, /url must be a URL such as redis/],
  [{ url: undefined }, /give url or client/],
  [{ ttl: 5 }, /no option ttl; it has .*ttlMs/],
  [{ app: "" }, /app/],
])("options that make no sense are refused (%#)", (more, message) => {
  const options = { app: "a", url: "redis://user:secret@localhost", ...more };
  expect(() => redisLease(options as RedisLeaseOptions)).toThrow(message);
  expect(() => redisLease(options as RedisLeaseOptions)).not.toThrow(/secret/);
});

async function grantOf(coordinator: ReturnType<typeof open>, graph: string) {
  const answer = await coordinator.acquire(graph);
  if (!answer.granted) throw new Error(answer.message);
  return answer;
}
