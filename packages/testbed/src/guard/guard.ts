import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type GuardMessage, runVariable } from "./protocol.js";

const run = randomUUID();
let pipe: Writable | undefined;

/**
 * Marks this process's own environment, so that whatever it starts from now on is ended after it, also
 * what nobody announces, such as a test runner's workers. Linux only, because only there the guard can
 * read the environment of others.
 */
export function guardWhatIStart(): void {
  pipe ??= startGuard();
}

/** The environment for a process of the testbed: by it the guard knows the process and its children. */
export function guardedEnv(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  guardWhatIStart();
  return { ...env, [runVariable]: run };
}

/**
 * Ends `child` and its children when this process ends, however it ends. Call it in the same turn as
 * the spawn. A child that ends earlier is forgotten by itself.
 */
export function guardProcess(child: ChildProcess, gentle?: "SIGQUIT"): void {
  const { pid } = child;
  if (pid === undefined) return;
  tell({ kind: "process", pid, ...(gentle === undefined ? {} : { gentle }) });
  child.once("exit", () => tell({ kind: "process-gone", pid }));
}

/** Removes `path` when this process ends, however it ends; the function returned forgets it again. */
export function guardFolder(path: string): () => void {
  tell({ kind: "folder", path });
  return () => tell({ kind: "folder-gone", path });
}

function tell(message: GuardMessage): void {
  pipe ??= startGuard();
  pipe.write(`${JSON.stringify(message)}\n`);
}

function startGuard(): Writable {
  const main = fileURLToPath(new URL("./guard-main.js", import.meta.url));
  // A session of its own: Ctrl-C goes to everything in the terminal's process group.
  const guard = spawn(process.execPath, [main, run], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { ...process.env, NODE_OPTIONS: "", [runVariable]: "" },
  });
  guard.on("error", (error) => warn(`it did not start: ${error.message}`));
  guard.stdin.on("error", (error) => warn(`it is gone: ${error.message}`));
  process.env[runVariable] = run;
  guard.unref();
  // A child's pipe is a socket, and only that can be unreferenced.
  (guard.stdin as Writable & { unref?(): void }).unref?.();
  return guard.stdin;
}

function warn(what: string): void {
  process.emitWarning(
    `The guard that ends servers and replicas after this run is missing: ${what}. Look for left-over processes.`,
    "SoleWriterTestbedWarning",
  );
}
