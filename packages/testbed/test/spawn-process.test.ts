import { getPriority } from "node:os";
import { freePort, hogCpu, spawnProcess } from "@sole-writer/testbed";
import { expect, it, vi } from "vitest";
import { startOf } from "../src/guard/process-table.js";
import { stateOf } from "./support/state-of.js";

const echo = new URL("./support/echo.mjs", import.meta.url);
interface Echo {
  echo: unknown;
}
const soon = { timeout: 10_000, interval: 5 };

it("talks with a process in values that JSON does not know", async () => {
  await using child = spawnProcess(echo, { args: ["one"], env: { GREETING: "hi" } });
  const sent = { fence: 2n ** 60n, at: new Date(5), seen: new Map([["a", 1]]) };
  child.send(sent);
  const answer = await child.nextMessage<Echo>((message) => message.echo !== undefined);
  expect(answer).toEqual({ echo: sent, args: ["one"], greeting: "hi" });
});

it("keeps messages until somebody takes them, whatever comes in between", async () => {
  const heard: unknown[] = [];
  await using child = spawnProcess(echo, { onMessage: (message) => heard.push(message) });
  for (const message of [1, 2, 3]) child.send(message);
  const isEcho = (wanted: number) => (message: Echo) => message.echo === wanted;
  expect((await child.nextMessage(isEcho(3))).echo).toBe(3);
  expect((await child.nextMessage(isEcho(1))).echo).toBe(1);
  expect(await child.nextMessage((message) => message === "ready")).toBe("ready");
  expect(heard).toHaveLength(4);
  await expect(child.nextMessage(isEcho(1), 1)).rejects.toThrow("No such message within 1 ms");
});

it("iterates over the messages until the process ends", async () => {
  await using child = spawnProcess(echo);
  child.send("a");
  const seen: unknown[] = [];
  for await (const message of child.messages()) {
    seen.push(message);
    if (message !== "ready") child.send("end");
  }
  expect(seen).toEqual(["ready", expect.objectContaining({ echo: "a" })]);
});

it("tells how it ended and what it said, also to who waits for a message", async () => {
  await using child = spawnProcess(echo, { label: "replica A" });
  await child.nextMessage((message) => message === "ready");
  const waiting = child.nextMessage(() => false);
  child.send("end");
  await expect(waiting).rejects.toThrow(/exit code 3.*replica A.*echo is ready.*ending as told/s);
  expect(await child.exited).toEqual({ code: 3, signal: null });
  expect(child.hasExited).toBe(true);
  child.send("nobody there");
});

it("stands still between stop and cont", async () => {
  await using child = spawnProcess(echo);
  await child.nextMessage((message) => message === "ready");
  child.stop();
  await vi.waitFor(() => expect(stateOf(child.pid)).toBe("stopped"), soon);
  child.send("while stopped");
  child.cont();
  await child.nextMessage<Echo>((message) => message.echo === "while stopped");
});

it("kills a process that stands still", async () => {
  const child = spawnProcess(echo);
  child.stop();
  expect(await child.kill()).toEqual({ code: null, signal: "SIGKILL" });
  expect(startOf(child.pid)).toBeUndefined();
});

it("starts hogs that give way to everything else, and ends them", async () => {
  const hogs = hogCpu(2);
  expect(hogs.pids.map((pid) => getPriority(pid))).toEqual([10, 10]);
  await hogs.stop();
  expect(hogs.pids.map(startOf)).toEqual([undefined, undefined]);
});

it("hands out each free port once", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
});
