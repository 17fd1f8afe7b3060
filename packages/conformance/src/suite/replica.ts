import { answerWithinMs, pollEveryMs, startWithinMs } from "../bounds.js";
import { check, inWords, LawBroken } from "../check.js";
import { pause, within } from "../promises.js";
import type { PlainAnswer, PlainError } from "../replica/plain.js";
import type {
  Commands,
  GiveUp,
  Link,
  Opened,
  PlainAcquireOptions,
  WorkScript,
} from "../replica/protocol.js";
import type { EventLog } from "./event-log.js";
import { type Held, heldGrant } from "./held.js";
import { type TickRun, tickRun } from "./tick-run.js";
import { type ReplicaUnits, replicaUnits } from "./units.js";

/** How an acquire is asked. `withinMs` is how long the suite waits for the answer. */
export type AskOptions = PlainAcquireOptions & {
  readonly giveUp?: GiveUp;
  readonly withinMs?: number;
};

/** An answer, and the grant by which it can be settled. */
export interface Asked {
  readonly answer: PlainAnswer;
  readonly held: Held | undefined;
}

/** One coordinator under test, in the replica it was opened in. */
export interface Replica {
  readonly label: string;
  readonly app: string;
  readonly pid: number;
  readonly opened: Opened;
  readonly log: EventLog;
  /** Ids of the runs of this coordinator begin with one of these. */
  readonly runPrefixes: readonly string[];
  ask(graph: string, how?: AskOptions): Promise<Asked>;
  /** Acquires, and fails the case when it is not granted. */
  take(graph: string, how?: AskOptions): Promise<Held>;
  /** Acquires, and fails the case when it is not refused. */
  refused(
    graph: string,
    how?: AskOptions,
  ): Promise<Extract<PlainAnswer, { kind: "refused" }>["refusal"]>;
  /** Acquires, and fails the case when it throws nothing. */
  error(graph: string, how?: AskOptions): Promise<PlainError>;
  /** Acquires again and again while refused, and fails the case when there is no grant within `ms`. */
  takeWithin(ms: number, graph: string, how?: AskOptions): Promise<Held>;
  tick(graph: string, work: WorkScript, how?: TickHow): TickRun;
  /** For coordinators with a backlog. */
  readonly units: ReplicaUnits;
  storm(graphs: readonly string[], forMs: number): Promise<Commands["storm"]["answer"]>;
  inspect(graph?: string): Promise<Commands["inspect"]["answer"]>;
  preflight(): Promise<Commands["preflight"]["answer"]>;
  /** Resolves with what `close` threw, if anything. */
  close(graceMs?: number): Promise<PlainError | undefined>;
}

/** How a tick is asked; `startAt` is a time of the clock that all processes share. */
export type TickHow = PlainAcquireOptions & { readonly startAt?: bigint };

export function replicaOver(
  link: Link,
  log: EventLog,
  facts: {
    readonly key: string;
    readonly label: string;
    readonly app: string;
    readonly opened: Opened;
  },
): Replica {
  const { key: coordinator, label } = facts;
  let runs = 0;
  const newRun = () => {
    runs += 1;
    return `${coordinator}#${runs}`;
  };

  async function ask(graph: string, how: AskOptions = {}): Promise<Asked> {
    const { giveUp, withinMs = answerWithinMs, ...options } = how;
    const run = newRun();
    const asking = link.request("acquire", {
      coordinator,
      run,
      graph,
      options,
      ...(giveUp !== undefined && { giveUp }),
    });
    const answer = await within(withinMs, `${label} was answered about "${graph}"`, asking);
    const held = answer.kind === "granted" ? heldGrant(link, log, run, label, answer) : undefined;
    return { answer, held };
  }

  async function take(graph: string, how?: AskOptions): Promise<Held> {
    const { answer, held } = await ask(graph, how);
    check(held, `${label} should have been granted "${graph}", but: ${inWords(answer)}`);
    return held;
  }

  return {
    ...facts,
    pid: link.pid,
    log,
    runPrefixes: [`${coordinator}#`, `${facts.opened.holder.id}:`],
    ask,
    take,
    units: replicaUnits(link, log, { coordinator, label, newRun }),
    async refused(graph, how) {
      const { answer } = await ask(graph, how);
      check(
        answer.kind === "refused",
        `${label} should have been refused "${graph}", but: ${inWords(answer)}`,
      );
      return answer.refusal;
    },
    async error(graph, how) {
      const { answer } = await ask(graph, how);
      check(
        answer.kind === "error",
        `the acquire of ${label} should have thrown, but: ${inWords(answer)}`,
      );
      return answer.error;
    },
    async takeWithin(ms, graph, how) {
      const until = performance.now() + ms;
      for (;;) {
        const { answer, held } = await ask(graph, how);
        if (held) return held;
        const goesOn = answer.kind === "refused" && performance.now() < until;
        if (!goesOn)
          throw new LawBroken(
            `${label} was not granted "${graph}" within ${Math.round(ms)} ms; last answer: ${inWords(answer)}`,
          );
        await pause(pollEveryMs);
      }
    },
    tick(graph, work, how = {}) {
      const { startAt, ...options } = how;
      return tickRun(link, log, label, {
        coordinator,
        run: newRun(),
        graph,
        work,
        options,
        ...(startAt !== undefined && { startAt }),
      });
    },
    storm: (graphs, forMs) =>
      within(
        forMs + startWithinMs,
        `the storm of ${label} ended`,
        link.request("storm", { coordinator, graphs, forMs }),
      ),
    inspect: (graph) =>
      within(
        answerWithinMs,
        `${label} was told who holds what`,
        link.request("inspect", { coordinator, ...(graph !== undefined && { graph }) }),
      ),
    preflight: () =>
      within(
        startWithinMs,
        `the preflight of ${label} ended`,
        link.request("preflight", { coordinator }),
      ),
    close: (graceMs) =>
      within(
        startWithinMs,
        `${label} was closed`,
        link.request("close", { coordinator, ...(graceMs !== undefined && { graceMs }) }),
      ),
  };
}
