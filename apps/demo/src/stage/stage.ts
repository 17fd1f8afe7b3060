import type { Opening, ReplicaEvent } from "../replica/protocol.js";
import type { StageClock } from "./clock.js";
import type { StageDatabase } from "./database.js";
import type { Happenings, Tone } from "./happening.js";
import type { OutsideWorld } from "./outside-world.js";
import { type ReplicaProcess, startReplica } from "./replica-process.js";
import { within } from "./within.js";

/** Everything that a scene has to do with. */
export interface Stage {
  readonly clock: StageClock;
  readonly database: StageDatabase;
  readonly outside: OutsideWorld;
  readonly happenings: Happenings;
  /** Aborts when somebody pressed Ctrl-C. */
  readonly signal: AbortSignal;
  /** Three replicas that are alive; those that are missing are started. */
  threeReplicas(): Promise<readonly [ReplicaProcess, ReplicaProcess, ReplicaProcess]>;
  /** One more replica, whose lock sessions go to `lockUrl`. */
  extraReplica(label: string, lockUrl: string): Promise<ReplicaProcess>;
  /** The planned time of the next tick. */
  nextWindow(): string;
  /** A line of the story, as of now or of a reading of `process.hrtime.bigint()`. */
  say(who: string, tone: Tone, text: string, atNs?: bigint): void;
  /** Kills `replica` with SIGKILL; returns when that was, as a reading of `process.hrtime.bigint()`. */
  kill(replica: ReplicaProcess): bigint;
  /** Waits for `promise`, for as long as a busy machine may take. */
  within<T>(promise: Promise<T>, what: string): Promise<T>;
  /** Ends every replica: at the end, and after a scene that went wrong. */
  endReplicas(how: "close" | "kill"): Promise<void>;
}

export interface StageParts {
  readonly clock: StageClock;
  readonly database: StageDatabase;
  readonly outside: OutsideWorld;
  readonly happenings: Happenings;
  readonly signal: AbortSignal;
  readonly unprotected: boolean;
}

const firstWindow = Date.UTC(2026, 0, 5, 6);
const windowEveryMs = 15 * 60_000;

/** A stage without replicas; scenes bring them. */
export function openStage(parts: StageParts): Stage {
  const { clock, database, outside, happenings, signal, unprotected } = parts;
  const replicas = new Set<ReplicaProcess>();
  const starting = new Set<Promise<unknown>>();
  let numbered = 0;
  let windows = 0;

  async function start(label: string, lock: Pick<Opening, "lockUrl">): Promise<ReplicaProcess> {
    signal.throwIfAborted();
    const { url } = database;
    const opening = { label, url, outsideUrl: outside.url, unprotected, ...lock };
    const started = startReplica({ kind: "open", ...opening }, (event) =>
      happenings.add(happeningOf(clock, label, event)),
    );
    starting.add(started);
    const replica = await started.finally(() => starting.delete(started));
    replicas.add(replica);
    void replica.ended.then(() => replicas.delete(replica));
    return replica;
  }

  async function numberedReplica(): Promise<ReplicaProcess> {
    numbered += 1;
    const replica = await start(`replica-${numbered}`, {});
    say(replica.label, "plain", `is up, pid ${replica.pid}`);
    return replica;
  }

  function kill(replica: ReplicaProcess): bigint {
    const atNs = process.hrtime.bigint();
    replica.kill();
    const atMs = clock.sinceStartMs(atNs);
    happenings.add({ kind: "killed", atMs, replica: replica.label });
    return atNs;
  }

  const say = (who: string, tone: Tone, text: string, atNs?: bigint) =>
    happenings.add({ kind: "told", atMs: clock.sinceStartMs(atNs), who, tone, text });

  return {
    ...parts,
    say,
    async threeReplicas() {
      const there = [...replicas].filter((one) => one.isAlive && /^replica-\d/.test(one.label));
      const missing = Array.from({ length: 3 - there.length }, numberedReplica);
      const [first, second, third] = [...there, ...(await Promise.all(missing))];
      if (!first || !second || !third) throw new Error("There are fewer than three replicas.");
      return [first, second, third];
    },
    extraReplica: (label, lockUrl) => start(label, { lockUrl }),
    nextWindow() {
      windows += 1;
      return new Date(firstWindow + windows * windowEveryMs).toISOString();
    },
    kill,
    within: (promise, what) => within(promise, what, signal),
    async endReplicas(how) {
      await Promise.allSettled(starting);
      await Promise.all(
        [...replicas].map(async (replica) => {
          if (how === "close") await replica.close();
          else kill(replica);
          await replica.ended;
        }),
      );
    },
  };
}

function happeningOf(clock: StageClock, replica: string, { atNs, graph, event }: ReplicaEvent) {
  const atMs = clock.sinceStartMs(BigInt(atNs));
  return { kind: "coordinator", atMs, replica, graph, event } as const;
}
