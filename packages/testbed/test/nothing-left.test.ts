import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { spawnProcess } from "@sole-writer/testbed";
import { expect, it, vi } from "vitest";
import { startOf } from "../src/guard/process-table.js";

interface Started {
  readonly pids: number[];
  readonly folder: string;
  readonly proxyPort: number;
}

const script = new URL("./support/start-everything.mjs", import.meta.url);
const between = new URL("./support/start-in-between.mjs", import.meta.url);
/** The guard gives PostgreSQL 5 s to put its shared memory away before it kills it. */
const afterwards = { timeout: 15_000, interval: 20 };

async function everythingIsGone({ pids, folder, proxyPort }: Started): Promise<void> {
  await vi.waitFor(() => {
    expect(pids.filter((pid) => startOf(pid) !== undefined)).toEqual([]);
    expect(existsSync(dirname(folder))).toBe(false);
  }, afterwards);
  const [refused] = await once(connect({ host: "127.0.0.1", port: proxyPort }), "error");
  expect(refused).toMatchObject({ code: "ECONNREFUSED" });
}

it("leaves nothing behind a process that is killed", async () => {
  await using killed = spawnProcess(script);
  const started = await killed.nextMessage<Started>((message) => message.pids !== undefined);
  expect(started.pids.filter((pid) => startOf(pid) === undefined)).toEqual([]);
  await killed.kill("SIGKILL");
  await everythingIsGone(started);
});

it("leaves nothing behind a process that forgets to stop what it started", async () => {
  await using forgetful = spawnProcess(script, { args: ["and-exit"] });
  const started = await forgetful.nextMessage<Started>((message) => message.pids !== undefined);
  expect(await forgetful.exited).toEqual({ code: 0, signal: null });
  await everythingIsGone(started);
});

it("leaves nothing behind a process in between that is killed", async () => {
  await using killed = spawnProcess(between);
  const started = await killed.nextMessage<Started>((message) => message.pids !== undefined);
  await killed.kill("SIGKILL");
  await everythingIsGone(started);
});
