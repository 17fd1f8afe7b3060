import { existsSync } from "node:fs";
import { type PostgresServer, startPostgres } from "@sole-writer/testbed";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stateOf } from "./support/state-of.js";

/** Replaying and starting take well under a second; a machine that is busy otherwise takes longer. */
const soon = { timeout: 20_000, interval: 20 };

describe("a PostgreSQL of one's own", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: 42 } });
  });
  afterAll(() => server.stop());

  it("runs with the settings given, and says its version", async () => {
    expect(await server.query("SHOW max_connections")).toEqual([{ max_connections: "42" }]);
    expect(server.majorVersion).toBeGreaterThanOrEqual(15);
  });

  it("refuses a wrong password", async () => {
    const url = server.url({ password: "wrong" });
    await expect(server.query("SELECT 1", [], url)).rejects.toMatchObject({ code: "28P01" });
  });

  it.each(["fast", "immediate"] as const)("keeps port and data over a %s restart", async (mode) => {
    const url = await server.createDatabase();
    await server.query("CREATE TABLE kept AS SELECT 7 AS a", [], url);
    const { port } = server;
    await server.restart(mode);
    expect(server.port).toBe(port);
    expect(await server.query("SELECT a FROM kept", [], url)).toEqual([{ a: 7 }]);
  });

  it("refuses connections between shutDown and startAgain", async () => {
    await server.shutDown();
    await expect(server.query("SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(() => server.pause()).toThrow("start it again first");
    await server.startAgain();
    expect(await server.query("SELECT 1 AS a")).toEqual([{ a: 1 }]);
  });

  it("stands still while paused, and shuts down though it is", async () => {
    const rows = await server.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('checkpointer', 'walwriter')",
    );
    const states = () => rows.map(({ pid }) => stateOf(pid));
    expect(rows).toHaveLength(2);
    server.pause();
    await vi.waitFor(() => expect(states()).toEqual(["stopped", "stopped"]), soon);
    server.resume();
    expect(await server.query("SELECT 1 AS a")).toEqual([{ a: 1 }]);
    expect(states()).toEqual(["running", "running"]);
    server.pause();
    await server.restart("fast");
    expect(await server.query("SELECT 1 AS a")).toEqual([{ a: 1 }]);
  });

  it("is followed by a standby, which takes no writes", async () => {
    await using standby = await server.startStandby();
    await server.query("CREATE TABLE followed AS SELECT 9 AS a");
    await vi.waitFor(
      async () => expect(await standby.query("SELECT a FROM followed")).toEqual([{ a: 9 }]),
      soon,
    );
    expect(await standby.query("SELECT pg_is_in_recovery() AS is")).toEqual([{ is: true }]);
    const write = standby.query("CREATE TABLE refused (a int)");
    await expect(write).rejects.toMatchObject({ code: "25006" });
  });
});

it("pauses one backend and leaves the others alone", async () => {
  await using server = await startPostgres();
  const asleep = server.query("SELECT pg_sleep(600)");
  asleep.catch(() => {});
  const active =
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";
  const pid = await vi.waitFor(async () => {
    const [row] = await server.query<{ pid: number }>(active);
    if (row === undefined) throw new Error("it does not sleep yet");
    return row.pid;
  }, soon);
  server.pause(pid);
  await server.query("SELECT pg_cancel_backend($1)", [pid]);
  // Each question takes far longer than a session needs to hear of its cancel.
  for (let round = 0; round < 10; round += 1) expect(await server.query(active)).toEqual([{ pid }]);
  server.resume(pid);
  await expect(asleep).rejects.toMatchObject({ code: "57014" });
});

it("says why it did not start, and leaves nothing behind", async () => {
  const settings = { no_such_setting: 1 };
  await expect(startPostgres({ settings })).rejects.toThrow(/no_such_setting/);
});

it("removes its data when it stops, and does not start again", async () => {
  const server = await startPostgres();
  const [row] = await server.query<{ data_directory: string }>("SHOW data_directory");
  expect(existsSync(row?.data_directory ?? "")).toBe(true);
  await server.stop();
  await server.stop();
  expect(existsSync(row?.data_directory ?? "")).toBe(false);
  await expect(server.startAgain()).rejects.toThrow("start a new one");
});

it("says which program is missing in the folder given", async () => {
  const start = startPostgres({ binaries: "/nowhere" });
  await expect(start).rejects.toThrow("There is no initdb in /nowhere");
});
