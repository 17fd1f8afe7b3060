import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { AskOptions, Replica } from "../suite/replica.js";
import type { LawCase } from "./law-case.js";

const early = "2026-03-01T02:00:00.000Z";
const late = "2026-03-01T02:30:00.000Z";

async function alreadyRan(replica: Replica, graph: string, how: AskOptions): Promise<void> {
  const refusal = await replica.refused(graph, how);
  check(
    refusal.reason === "already-ran",
    `${inWords(how)} should be refused with already-ran: ${inWords(refusal)}`,
  );
}

export const windowCases: readonly LawCase[] = [
  {
    law: law.windows,
    name: "a window that is done is refused on every replica, and so is an earlier one",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      await (await a.take(context.graph, { window: late })).release("done");
      for (const replica of [a, b]) {
        await alreadyRan(replica, context.graph, { window: late });
        await alreadyRan(replica, context.graph, { window: early });
      }
      await (await b.take(context.graph, { window: "2026-03-01T03:00:00.000Z" })).release();
      await (await b.take(context.graph)).release();
      await (await b.take("another graph", { window: late })).release();
    },
  },
  {
    law: law.windows,
    name: "a window that is not done runs again: failed, handed back and waiting do not count",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      for (const ending of ["failed", "handed-back", "waiting", "dispose"] as const) {
        await (await a.take(context.graph, { window: late })).release(ending);
        await (await b.take(context.graph, { window: late })).release("failed");
      }
      const running = await a.take(context.graph, { window: late });
      const refusal = await b.refused(context.graph, { window: late });
      check(refusal.reason === "held", `a window under way is held: ${inWords(refusal)}`);
      await running.release();
    },
  },
  {
    law: law.windows,
    name: "a window that is no time is compared for equality alone",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      await (await a.take(context.graph, { window: "batch b" })).release();
      await alreadyRan(b, context.graph, { window: "batch b" });
      await (await b.take(context.graph, { window: "batch a" })).release();
    },
  },
  {
    law: law.windows,
    name: "of two replicas that tick one window one after the other, one runs",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      for (let round = 0; round < context.options.rounds; round += 1) {
        const window = new Date(Date.UTC(2026, 2, 1, 0, round)).toISOString();
        const startAt = context.barrier();
        const ticks = [a, b].map((racer) =>
          racer.tick(context.graph, { hold: 0 }, { window, startAt }),
        );
        const reports = await Promise.all(ticks.map(({ report }) => report));
        const ran = reports.filter((one) => one.kind === "outcome" && one.status === "ran");
        check(ran.length === 1, `window ${window} should have run once: ${inWords(reports)}`);
      }
    },
  },
  {
    law: law.windows,
    name: "minIntervalMs refuses soon after a run that is done, and no longer than that",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const aMinuteMs = 60_000;
      await (await a.take(context.graph, { minIntervalMs: aMinuteMs })).release("failed");
      await (await b.take(context.graph, { minIntervalMs: aMinuteMs })).release("done");
      await alreadyRan(a, context.graph, { minIntervalMs: aMinuteMs });
      await alreadyRan(b, context.graph, { minIntervalMs: aMinuteMs });
      const soonMs = 500;
      const until = performance.now() + 2 * soonMs + 1_000;
      for (;;) {
        const { answer, held } = await a.ask(context.graph, { minIntervalMs: soonMs });
        if (held) return held.release();
        check(performance.now() < until, `${soonMs} ms are long over: ${inWords(answer)}`);
      }
    },
  },
];
