import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startWithinMs } from "../bounds.js";
import { deferred, within } from "../promises.js";
import type { Commands, Link, ReplicaEvent, ReplyMessage, RequestMessage } from "./protocol.js";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A replica in a process of its own. */
export interface ProcessLink extends Link {
  readonly exited: Promise<Exit>;
  readonly hasExited: boolean;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
}

const main = fileURLToPath(new URL("./main.js", import.meta.url));
const keptErrorOutput = 4_000;

export async function processLink(onSpawn?: (pid: number) => void): Promise<ProcessLink> {
  // No flags of the test runner: they would start its loader in the replica too.
  const child = fork(main, [], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const listeners = new Set<(event: ReplicaEvent) => void>();
  const waiting = new Map<number, ReturnType<typeof deferred<unknown>>>();
  const exit = deferred<Exit>();
  let hasExited = false;
  let lastId = 0;
  let errorOutput = "";

  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errorOutput = (errorOutput + text).slice(-keptErrorOutput);
  });
  child.on("message", (message: ReplyMessage | ReplicaEvent) => {
    if ("event" in message) {
      for (const listener of [...listeners]) listener(message);
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if ("failure" in message) asked?.reject(new Error(`in the replica: ${message.failure}`));
    else asked?.resolve(message.answer);
  });
  child.on("error", (error) => {
    for (const asked of waiting.values()) asked.reject(error);
  });
  child.on("exit", (code, signal) => {
    hasExited = true;
    const last = errorOutput === "" ? "" : `; it said: ${errorOutput}`;
    for (const asked of waiting.values())
      asked.reject(new Error(`the replica ended (code ${code}, signal ${signal})${last}`));
    waiting.clear();
    exit.resolve({ code, signal });
  });

  const spawned = deferred<void>();
  child.once("spawn", () => spawned.resolve());
  child.once("error", spawned.reject);
  await within(startWithinMs, "a replica process was started", spawned.promise);
  const { pid } = child;
  if (pid === undefined) throw new Error("a replica process was started without an id");
  onSpawn?.(pid);

  function request<Op extends keyof Commands>(
    op: Op,
    ask: Commands[Op]["ask"],
  ): Promise<Commands[Op]["answer"]> {
    const asked = deferred<unknown>();
    lastId += 1;
    const message: RequestMessage = { id: lastId, op, ask };
    waiting.set(lastId, asked);
    if (!child.connected) asked.reject(new Error("the replica is not connected any more"));
    else child.send(message, (error) => error && asked.reject(error));
    return asked.promise as Promise<Commands[Op]["answer"]>;
  }

  return {
    pid,
    exited: exit.promise,
    get hasExited() {
      return hasExited;
    },
    request,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async kill() {
      child.kill("SIGKILL");
      await exit.promise;
    },
    signal: (name) => void child.kill(name),
  };
}
