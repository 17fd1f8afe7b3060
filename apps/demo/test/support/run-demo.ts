import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How a run of the demo ended. */
export interface DemoEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningDemo {
  readonly child: ChildProcess;
  readonly ended: Promise<DemoEnd>;
  /** Resolves when the story has come to `text`; rejects when the run ends before. */
  storyReaches(text: string): Promise<void>;
}

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** Starts the built demo, in a process group of its own as a terminal does. */
export function startDemo(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningDemo {
  const { DATABASE_URL: _, PGBOUNCER_URL: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const seen = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      seen[name] += chunk;
      for (const look of [...watchers]) look();
    });
  const ended = new Promise<DemoEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...seen }));
  });
  return {
    child,
    ended,
    storyReaches: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!`${seen.stdout}${seen.stderr}`.includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
        void ended.then(({ stdout, stderr }) =>
          reject(new Error(`The run ended before "${text}":\n${stdout}${stderr}`)),
        );
      }),
  };
}

/** As {@link startDemo}, to its end. */
export function runDemo(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<DemoEnd> {
  return startDemo(args, env).ended;
}

/** Whether any process of the group is there; a run that leaves nothing leaves none. */
export function groupIsThere(leaderPid: number): boolean {
  try {
    process.kill(-leaderPid, 0);
    return true;
  } catch {
    return false;
  }
}
