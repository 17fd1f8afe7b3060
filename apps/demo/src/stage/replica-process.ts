import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type {
  GraphName,
  Opening,
  Ready,
  ReplicaEvent,
  Reply,
  Request,
  TickAnswer,
} from "../replica/protocol.js";

/** A replica in a process of its own, as the director sees it. */
export interface ReplicaProcess {
  readonly label: string;
  readonly pid: number;
  readonly ready: Ready;
  readonly isAlive: boolean;
  /** Resolves when the process has ended, with the signal or exit code and the end of what it printed. */
  readonly ended: Promise<string>;
  /** How the tick ended, and when; `gone` when the process ended first. */
  tick(graph: GraphName, window: string, askAgainMs?: number): Promise<TickEnd>;
  /** `held by …`, `free`, or `gone`. */
  inspect(graph: GraphName): Promise<string>;
  /** SIGKILL: no handler runs, nothing is said good-bye to. */
  kill(): void;
  /** Lets it finish, and kills it when it does not within 3 s. */
  close(): Promise<void>;
}

/** The end of a tick. `atNs` is a reading of `process.hrtime.bigint()` in the replica. */
export interface TickEnd {
  readonly atNs: bigint;
  readonly answer: TickAnswer;
}

const main = fileURLToPath(new URL("../replica/main.js", import.meta.url));
const closeMs = 3_000;
const keptOutput = 4_000;

/**
 * Starts a replica; resolves when it is ready.
 * @throws {Error} with the end of its output when it ends before that
 */
export async function startReplica(
  opening: Opening,
  onEvent: (event: ReplicaEvent) => void,
): Promise<ReplicaProcess> {
  const child = fork(main, { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  const output = outputOf(child);
  const waiting = new Map<number, (reply: Reply | undefined) => void>();
  let lastId = 0;
  let isAlive = true;

  const ended = new Promise<string>((resolve) => {
    const over = (how: string) => {
      isAlive = false;
      for (const tell of [...waiting.values()]) tell(undefined);
      resolve(how);
    };
    child.once("error", (error) => over(error.message));
    child.once("exit", (code, signal) => over(`${signal ?? `code ${code}`}${output()}`));
  });

  const ready = new Promise<Ready>((resolve, reject) => {
    child.on("message", (reply: Reply) => {
      if (reply.kind === "ready") resolve(reply);
      else if (reply.kind === "event") onEvent(reply);
      else waiting.get(reply.id)?.(reply);
    });
    void ended.then((how) => reject(new Error(`${opening.label} ended before it began: ${how}`)));
  });

  const send = (request: Request) => child.send(request, () => {});

  function ask(request: (id: number) => Request): Promise<Reply | undefined> {
    if (!isAlive) return Promise.resolve(undefined);
    lastId += 1;
    const id = lastId;
    return new Promise((resolve) => {
      waiting.set(id, (reply) => {
        waiting.delete(id);
        resolve(reply);
      });
      send(request(id));
    });
  }

  send(opening);
  const facts = await ready;
  return {
    label: opening.label,
    pid: child.pid ?? 0,
    ready: facts,
    ended,
    get isAlive() {
      return isAlive;
    },
    async tick(graph, window, askAgainMs) {
      const again = askAgainMs === undefined ? {} : { askAgainMs };
      const reply = await ask((id) => ({ kind: "tick", id, graph, window, ...again }));
      if (reply?.kind === "answer") return { atNs: BigInt(reply.atNs), answer: reply.answer };
      const answer = { status: "gone", message: await ended } as const;
      return { atNs: process.hrtime.bigint(), answer };
    },
    async inspect(graph) {
      const reply = await ask((id) => ({ kind: "inspect", id, graph }));
      return reply?.kind === "status" ? reply.state : "gone";
    },
    kill: () => void child.kill("SIGKILL"),
    async close() {
      if (!isAlive) return;
      send({ kind: "close" });
      const timer = setTimeout(() => child.kill("SIGKILL"), closeMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The end of what a process printed, to be told when it ends unexpectedly. */
function outputOf(child: ChildProcess): () => string {
  let text = "";
  const keep = (chunk: unknown) => {
    text = `${text}${String(chunk)}`.slice(-keptOutput);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return () => (text.trim() === "" ? "" : `, and said:\n${text.trim()}`);
}
