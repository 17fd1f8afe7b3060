import { type Grant, tick } from "@sole-writer/core";
import { type Deferred, deferred, pause } from "../promises.js";
import type { HostRoom, OpenCoordinator } from "./host.js";
import { plainError, plainOutcome } from "./plain.js";
import type { Commands, Handlers, StormReport, WorkScript } from "./protocol.js";

interface ToldRun {
  readonly finish: Deferred<void>;
  readonly abort: AbortController;
}

type RunHandlers = Pick<Handlers, "tick" | "tell" | "storm">;

/** Commands that run work under `tick`. */
export function runCommands(room: HostRoom): {
  handlers: RunHandlers;
  finishAll(): void;
  ended(): Promise<void>;
} {
  const runs = new Map<string, ToldRun>();
  const underWay = new Set<Promise<unknown>>();

  async function runTick(ask: Commands["tick"]["ask"]): Promise<Commands["tick"]["answer"]> {
    const { run, graph, options, work, startAt } = ask;
    const opened = room.find(ask.coordinator);
    const told: ToldRun = { finish: deferred(), abort: new AbortController() };
    runs.set(run, told);
    if (startAt !== undefined) await barrier(startAt);
    const askedAt = process.hrtime.bigint();
    const times = () => ({ askedAt, answeredAt: process.hrtime.bigint() });
    try {
      const body = (grant: Grant) =>
        traced(room, opened, run, grant, () => follow(work, grant, told));
      const signal = told.abort.signal;
      const outcome = await tick(opened.coordinator, graph, body, { ...options, signal });
      return { ...plainOutcome(outcome), ...times() };
    } catch (error) {
      return { kind: "error", error: plainError(error), ...times() };
    } finally {
      runs.delete(run);
    }

    async function follow(script: WorkScript, grant: Grant, { finish, abort }: ToldRun) {
      const ends = script.hold === "until-told" ? finish.promise : pause(script.hold);
      const signals = [grant.signal, grant.draining, abort.signal];
      if (script.ignoresStop) await ends;
      else await Promise.race([ends, ...signals.map(stopped)]);
      if (script.throws) throw new Error("the work failed, as the suite told it to");
      if (!script.nests) return "worked";
      const nested = await tick(opened.coordinator, graph, async () => "nested work ran");
      return plainOutcome(nested);
    }
  }

  function tracked<T>(promise: Promise<T>): Promise<T> {
    underWay.add(promise);
    void promise.catch(() => undefined).finally(() => underWay.delete(promise));
    return promise;
  }

  return {
    handlers: {
      tick: (ask) => tracked(runTick(ask)),
      async tell({ run, what }) {
        const told = runs.get(run);
        if (what === "finish") told?.finish.resolve();
        else told?.abort.abort(new Error("stopped by the suite"));
        return undefined;
      },
      storm: ({ coordinator, graphs, forMs }) =>
        tracked(storm(room, room.find(coordinator), graphs, forMs)),
    },
    finishAll() {
      for (const { finish } of runs.values()) finish.resolve();
    },
    async ended() {
      await Promise.allSettled(underWay);
    },
  };
}

/** Runs a work body, and tells the suite and the oracle of its beginning and end. */
async function traced<T>(
  room: HostRoom,
  { app, pen }: OpenCoordinator,
  run: string,
  grant: Grant,
  body: () => Promise<T>,
): Promise<T> {
  const facts = { app, graph: grant.graph, fence: grant.fence, pid: process.pid, run };
  const at = process.hrtime.bigint();
  pen.write({ ...facts, kind: "begin", at });
  room.tell({ event: "began", run, fence: grant.fence, at });
  grant.signal.addEventListener("abort", () => {
    const lostAt = process.hrtime.bigint();
    room.tell({ event: "lost", run, error: plainError(grant.signal.reason), at: lostAt });
  });
  grant.draining.addEventListener("abort", () => {
    room.tell({ event: "draining", run, at: process.hrtime.bigint() });
  });
  try {
    return await body();
  } finally {
    pen.write({ ...facts, kind: "end", at: process.hrtime.bigint() });
  }
}

/** Short works, some of which throw, as fast as they come. */
async function storm(
  room: HostRoom,
  opened: OpenCoordinator,
  graphs: readonly string[],
  forMs: number,
): Promise<StormReport> {
  const until = performance.now() + forMs;
  const seen = { ran: 0, skipped: 0, failed: 0 };
  const odd: string[] = [];
  let count = 0;
  async function blow(graph: string): Promise<void> {
    while (performance.now() < until) {
      count += 1;
      const run = `${opened.coordinator.holder.id}:storm:${count}`;
      const throws = count % 5 === 0;
      const work = async () => {
        await pause(Math.random() * 8);
        if (throws) throw new Error("the work failed, as the suite told it to");
      };
      try {
        const { status } = await tick(opened.coordinator, graph, (grant) =>
          traced(room, opened, run, grant, work),
        );
        if (status === "ran" || status === "skipped" || status === "failed") seen[status] += 1;
        else odd.push(`an outcome was "${status}"`);
      } catch (error) {
        odd.push(`tick threw ${plainError(error).message}`);
      }
      await pause(Math.random() * 4);
    }
  }
  await Promise.all(graphs.map(blow));
  return { ...seen, odd: odd.slice(0, 5) };
}

async function barrier(startAt: bigint): Promise<void> {
  const leftMs = Number(startAt - process.hrtime.bigint()) / 1e6;
  if (leftMs > 2) await pause(leftMs - 2);
  // A timer is late by a millisecond or more, and the processes would then come one after another.
  while (process.hrtime.bigint() < startAt);
}

function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
