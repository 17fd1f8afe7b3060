import { type ChildProcess, fork } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { guardedEnv, guardProcess } from "../guard/guard.js";
import { openInbox } from "./inbox.js";

/** How a process ended: by itself with a code, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How `spawnProcess` starts a file. */
export interface SpawnOptions {
  readonly args?: readonly string[];
  /** Added to this process's own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Flags for Node. Default: none, not even the ones of this process. */
  readonly execArgv?: readonly string[];
  /** Called with every message, from the first on. */
  readonly onMessage?: (message: unknown) => void;
  /** Its name in errors; default: the file's. */
  readonly label?: string;
}

/** A Node process with a channel for messages (structured clone, so `bigint`, `Error` and `Map` arrive). */
export interface SpawnedProcess extends AsyncDisposable {
  readonly pid: number;
  readonly label: string;
  readonly hasExited: boolean;
  /** Resolves when it has ended and its output is complete; never rejects. */
  readonly exited: Promise<Exit>;
  /** Nothing happens when it has ended. */
  send(message: unknown): void;
  /** Calls back with every message from now on; the function returned stops that. */
  onMessage(listener: (message: unknown) => void): () => void;
  /** Every message not yet taken, then the ones to come; ends with the process. */
  messages(): AsyncIterable<unknown>;
  /**
   * The oldest message not yet taken that fits, also one that came before the call; it is taken, the
   * others stay. Throws with the end of the output when none comes in time, or the process ends first.
   */
  nextMessage<M = unknown>(predicate: (message: M) => boolean, withinMs?: number): Promise<M>;
  /** Sends a signal (default SIGKILL) and resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<Exit>;
  /** SIGSTOP: it stands still with all its connections open. */
  stop(): void;
  /** SIGCONT. */
  cont(): void;
  /** The end of what it wrote to stdout and stderr, in order of arrival. */
  output(): string;
}

const keptOutput = 16_000;

/**
 * Starts a JavaScript file in a process of its own. It is killed with this process, however that ends.
 * Throws when it cannot be started at all.
 */
export function spawnProcess(file: string | URL, options: SpawnOptions = {}): SpawnedProcess {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const label = options.label ?? basename(path);
  const child = fork(path, options.args ?? [], {
    serialization: "advanced",
    execArgv: [...(options.execArgv ?? [])],
    env: guardedEnv({ ...process.env, ...options.env }),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  guardProcess(child);
  const { pid } = child;
  if (pid === undefined)
    throw new Error(`Cannot start a process for ${path}: the system gave it no pid.`);

  const output = keepOutput(child);
  const inbox = openInbox(() => `${label} (pid ${pid}). The end of its output:\n${output()}`);
  if (options.onMessage !== undefined) inbox.listen(options.onMessage);
  child.on("message", (message: unknown) => inbox.put(message));
  // A message to a process that ends at this moment; its exit tells the rest.
  child.on("error", () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      inbox.close(`ended with ${code === null ? signal : `exit code ${code}`}`);
      resolve({ code, signal });
    });
  });
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;

  async function kill(signal: NodeJS.Signals = "SIGKILL"): Promise<Exit> {
    child.kill(signal);
    return exited;
  }

  return {
    pid,
    label,
    get hasExited() {
      return hasExited();
    },
    exited,
    send: (message) => {
      if (child.connected) child.send(message as object, () => {});
    },
    onMessage: inbox.listen,
    messages: inbox.messages,
    nextMessage: inbox.next,
    kill,
    stop: () => void child.kill("SIGSTOP"),
    cont: () => void child.kill("SIGCONT"),
    output,
    [Symbol.asyncDispose]: async () => void (await kill()),
  };
}

function keepOutput(child: ChildProcess): () => string {
  let kept = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      kept = (kept + text).slice(-keptOutput);
    });
  }
  return () => kept;
}
