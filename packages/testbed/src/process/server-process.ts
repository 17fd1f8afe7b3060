import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { guardProcess } from "../guard/guard.js";
import { familyOf } from "../guard/process-table.js";
import { GiveUp, untilItWorks } from "../wait.js";

/** One life of a server's process, from its start to its end. */
export interface ServerProcess {
  readonly hasExited: boolean;
  /** Sends `signal` and resolves when it has ended; after a limit it is killed. Also when it is paused. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** For the process and all its children, or for one of them. Throws when the server does not run. */
  signal(name: "SIGSTOP" | "SIGCONT", pid?: number): void;
}

/** How to start a server, and how to see that it answers. */
export interface ServerCommand {
  /** For messages: `PostgreSQL`. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  /** Ended with this one first when our process is gone. */
  readonly gentle?: "SIGQUIT";
  /** Rejects as long as the server does not answer. */
  answers(): Promise<unknown>;
}

/** On a machine with two cores and everything else running at once it has been seen to take 5 s. */
const startWithinMs = 60_000;
/** It may have a statement to end first; what takes longer is killed. */
const endWithinMs = 20_000;
const killWithinMs = 10_000;
const keptLog = 4_000;

/** Starts the server and resolves when it answers. Throws with the end of its log. */
export async function startServerProcess(command: ServerCommand): Promise<ServerProcess> {
  const log = openSync(command.logFile, "a");
  const child = spawn(command.program, command.args, {
    ...command.account,
    cwd: command.folder,
    env: command.env,
    stdio: ["ignore", log, log],
  });
  guardProcess(child, command.gentle);
  closeSync(log);
  let problem: string | undefined;
  child.once("error", (error) => {
    problem = error.message;
  });
  child.once("exit", (code, signal) => {
    problem ??= `it ended with ${code === null ? signal : `exit code ${code}`}`;
  });
  const failed = (why: string) => notStarted(command, why);
  try {
    await untilItWorks(
      async () => {
        if (problem !== undefined) throw new GiveUp(failed(problem));
        await command.answers();
        // Another server may have answered on the port that ours did not get.
        if (problem !== undefined) throw new GiveUp(failed(problem));
      },
      startWithinMs,
      (last) => failed(`no answer within ${startWithinMs} ms (${String(last)})`),
    );
  } catch (error) {
    await kill(child);
    throw error;
  }
  // The caller's process may end without a stop: the guard does it then.
  child.unref();
  return over(child, command.name);
}

function over(child: ChildProcess, name: string): ServerProcess {
  const pid = child.pid ?? 0;

  function signal(which: "SIGSTOP" | "SIGCONT", one?: number): void {
    if (hasExited(child)) throw new Error(`This ${name} does not run: start it again first.`);
    if (one !== undefined) {
      process.kill(one, which);
      return;
    }
    // First the one that starts others. Some of them may end just now.
    process.kill(pid, which);
    for (const member of familyOf(pid)) trySignal(member, which);
  }

  async function end(how: NodeJS.Signals): Promise<void> {
    if (hasExited(child)) return;
    child.ref();
    const gone = once(child, "exit");
    for (const member of familyOf(pid)) trySignal(member, "SIGCONT");
    child.kill(how);
    const timer = setTimeout(() => void kill(child), endWithinMs);
    await gone;
    clearTimeout(timer);
  }

  return {
    get hasExited() {
      return hasExited(child);
    },
    end,
    signal,
  };
}

/** The port was taken between our look and the server's. */
export function isPortTaken(error: unknown): boolean {
  return error instanceof Error && /address already in use/i.test(error.message);
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function kill(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
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

function notStarted({ name, logFile }: ServerCommand, why: string): Error {
  const log = readFileSync(logFile, "utf8").slice(-keptLog).trim();
  return new Error(`${name} did not start: ${why}. The end of its log:\n${log || "(empty)"}`);
}
