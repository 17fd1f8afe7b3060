import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { guardProcess } from "../guard/guard.js";
import { familyOf } from "../guard/process-table.js";
import { GiveUp, untilItWorks } from "../wait.js";
import type { Account } from "./account.js";
import { serverEnv } from "./data-folder.js";
import { queryOnce } from "./query.js";
import type { ShutDownMode } from "./server.js";

/** One life of a server, from its start to its shutdown. */
export interface Postmaster {
  readonly hasExited: boolean;
  shutDown(mode: ShutDownMode): Promise<void>;
  /** A signal for one backend, or for the server with all its children. */
  signal(name: "SIGSTOP" | "SIGCONT", pid?: number): void;
}

const startWithinMs = 60_000;
/** A backend may have to end a statement first; what takes longer is killed. */
const fastWithinMs = 20_000;
const killWithinMs = 10_000;
const logTail = 4_000;

/** Starts `postgres` on `folder` and resolves when `url` answers. Throws with the end of its log. */
export async function startPostmaster(at: {
  readonly binaries: string;
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
  readonly url: string;
  readonly account: Account | undefined;
}): Promise<Postmaster> {
  const log = openSync(at.logFile, "a");
  const child = spawn(join(at.binaries, "postgres"), ["-D", at.folder, "-p", String(at.port)], {
    ...at.account,
    cwd: at.folder,
    env: serverEnv(),
    stdio: ["ignore", log, log],
  });
  guardProcess(child, "SIGQUIT");
  closeSync(log);
  let problem: string | undefined;
  child.once("error", (error) => {
    problem = error.message;
  });
  child.once("exit", (code, signal) => {
    problem ??= `exit code ${code ?? signal}`;
  });
  try {
    await untilItWorks(
      async () => {
        if (problem !== undefined) throw new GiveUp(notStarted(problem, at.logFile));
        await queryOnce(at.url, "SELECT 1");
      },
      startWithinMs,
      (last) => notStarted(`no answer in ${startWithinMs} ms (${String(last)})`, at.logFile),
    );
  } catch (error) {
    if (child.pid !== undefined) await kill(child);
    throw error;
  }
  // The caller's process may end without a stop: the guard does it then.
  child.unref();
  return over(child);
}

/** The port was taken between our look and the server's. */
export function isPortTaken(error: unknown): boolean {
  return error instanceof Error && error.message.includes("Address already in use");
}

function over(child: ChildProcess): Postmaster {
  const pid = child.pid ?? 0;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;

  function signal(name: "SIGSTOP" | "SIGCONT", backend?: number): void {
    if (hasExited()) throw new Error("This PostgreSQL does not run: start it again first.");
    for (const target of backend === undefined ? familyOf(pid) : [backend])
      process.kill(target, name);
  }

  async function shutDown(mode: ShutDownMode): Promise<void> {
    if (hasExited()) return;
    child.ref();
    const gone = once(child, "exit");
    for (const member of familyOf(pid)) trySignal(member, "SIGCONT");
    child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
    const timer = setTimeout(() => void kill(child), fastWithinMs);
    await gone;
    clearTimeout(timer);
  }

  return {
    get hasExited() {
      return hasExited();
    },
    shutDown,
    signal,
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit", { signal: AbortSignal.timeout(killWithinMs) });
  for (const member of familyOf(child.pid ?? 0)) trySignal(member, "SIGKILL");
  await gone;
}

function trySignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function notStarted(why: string, logFile: string): Error {
  const log = readFileSync(logFile, "utf8").slice(-logTail).trim();
  return new Error(`PostgreSQL did not start: ${why}. The end of its log:\n${log}`);
}
