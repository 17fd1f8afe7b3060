import { spawnProcess } from "@sole-writer/testbed";
import type {
  GraphName,
  Opening,
  Ready,
  ReplicaEvent,
  Reply,
  Request,
  TickAnswer,
} from "../replica/protocol.js";
import { withResolvers } from "./with-resolvers.js";

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

const main = new URL("../replica/main.js", import.meta.url);
const closeMs = 3_000;

/**
 * Starts a replica; resolves when it is ready.
 * @throws {Error} with the end of its output when it ends before that
 */
export async function startReplica(
  opening: Opening,
  onEvent: (event: ReplicaEvent) => void,
): Promise<ReplicaProcess> {
  const { label } = opening;
  const waiting = new Map<number, (reply: Reply | undefined) => void>();
  let lastId = 0;
  const ready = withResolvers<Ready>();
  const child = spawnProcess(main, {
    label,
    onMessage(message) {
      // The other side is ours: see src/replica/main.ts.
      const reply = message as Reply;
      if (reply.kind === "ready") ready.resolve(reply);
      else if (reply.kind === "event") onEvent(reply);
      else waiting.get(reply.id)?.(reply);
    },
  });
  const ended = child.exited.then(({ code, signal }) => {
    for (const tell of [...waiting.values()]) tell(undefined);
    const said = child.output().trim();
    return `${signal ?? `code ${code}`}${said === "" ? "" : `, and said:\n${said}`}`;
  });
  const send = (request: Request) => child.send(request);

  function ask(request: (id: number) => Request): Promise<Reply | undefined> {
    if (child.hasExited) return Promise.resolve(undefined);
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
  const begun = await Promise.race([ready.promise, ended]);
  if (typeof begun === "string") throw new Error(`${label} ended before it began: ${begun}`);
  return {
    label,
    pid: child.pid,
    ready: begun,
    ended,
    get isAlive() {
      return !child.hasExited;
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
      send({ kind: "close" });
      const timer = setTimeout(() => child.kill("SIGKILL"), closeMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
