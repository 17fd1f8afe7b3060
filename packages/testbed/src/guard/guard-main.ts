/**
 * The guard: a process beside each process that starts servers or replicas. It holds the reading end
 * of a pipe. However the other side ends, SIGKILL included, the kernel closes the pipe, and the guard
 * ends whatever is still registered, removes its folders, and exits.
 */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { carriersOf, childrenOf, commandOf, familyOf, startOf } from "./process-table.js";
import { type GuardMessage, runVariable } from "./protocol.js";

/** Longer than an immediate shutdown of PostgreSQL takes on a busy machine; then SIGKILL. */
const gentleMs = 5_000;
const pollMs = 20;

interface Ward {
  readonly started: string | undefined;
  readonly gentle: "SIGQUIT" | undefined;
}

const wards = new Map<number, Ward>();
const folders = new Set<string>();
const run = process.argv[2] ?? "";
const ownCommand = basename(process.argv[1] ?? "guard-main.js");

// It leaves when its process has left, and not before.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => note(JSON.parse(line) as GuardMessage));
lines.on("close", () => void cleanUp());

function note(message: GuardMessage): void {
  switch (message.kind) {
    case "process":
      wards.set(message.pid, { started: startOf(message.pid), gentle: message.gentle });
      return;
    case "process-gone":
      wards.delete(message.pid);
      return;
    case "folder":
      folders.add(message.path);
      return;
    case "folder-gone":
      folders.delete(message.path);
      return;
  }
}

async function cleanUp(): Promise<void> {
  const left = [...wards].filter(([pid, ward]) => isStill(pid, ward));
  await Promise.all(left.map(([pid, ward]) => end(pid, ward)));
  for (const pid of carriersOf(runVariable, run)) endFamily(pid);
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

/** A pid that was given to another process since then is none of ours. */
function isStill(pid: number, ward: Ward): boolean {
  const started = startOf(pid);
  return started !== undefined && started === ward.started;
}

async function end(pid: number, ward: Ward): Promise<void> {
  if (ward.gentle !== undefined) {
    // What stands still cannot end gently.
    for (const member of familyOf(pid)) signal(member, "SIGCONT");
    signal(pid, ward.gentle);
    const giveUpAt = performance.now() + gentleMs;
    while (isStill(pid, ward) && performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
  if (isStill(pid, ward)) endFamily(pid);
}

function endFamily(pid: number): void {
  // Parents first, stopped: a parent that runs on could start another child behind our back.
  signal(pid, "SIGSTOP");
  const children = childrenOf(pid);
  // One that is a guard itself sees the end of its process and does the rest, as gently as we would.
  if (!children.some(isGuard)) for (const child of children) endFamily(child);
  signal(pid, "SIGKILL");
}

function isGuard(pid: number): boolean {
  return commandOf(pid).includes(ownCommand);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}
