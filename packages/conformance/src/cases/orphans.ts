import { acquireTimeoutMs, answerWithinMs, exitWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { GiveUp } from "../replica/protocol.js";
import type { LawCase } from "./law-case.js";

/** Longest answer in ms on which the random moments of giving up are spread. */
const longestGiveUpMs = 12;

function momentOf(count: number, options: { readonly giveUps: number }): GiveUp {
  if (count % 10 === 0) return "before";
  if (count % 10 === 1) return "at-once";
  return (longestGiveUpMs * count) / options.giveUps;
}

export const noOrphansCases: readonly LawCase[] = [
  {
    law: law.noOrphans,
    name: "an acquire that was given up, at whatever moment, leaves nothing behind",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      await (await a.take(context.graph)).release();
      for (let count = 0; count < context.options.giveUps; count += 1) {
        const giveUp = momentOf(count, context.options);
        const { answer, held } = await a.ask(context.graph, { giveUp });
        if (held) await held.release();
        else
          check(
            answer.kind === "error" && answer.error.code === "ACQUIRE_ABORTED",
            `an acquire that was given up should say ACQUIRE_ABORTED: ${inWords(answer)}`,
          );
        const next = await b.takeWithin(answerWithinMs, context.graph);
        await next.release();
      }
      await (await a.take(context.graph)).release();
    },
  },
  {
    law: law.noOrphans,
    name: "after an acquire that was given up while the backend was silent, the process is answered again",
    async run(context) {
      const wire = await context.wire();
      const a = await context.replica("a", { settings: wire.settings });
      await (await a.take(context.graph)).release();
      wire.set("hole");
      const { answer } = await a.ask(context.graph, { giveUp: 200 });
      check(
        answer.kind === "error" && answer.error.code === "ACQUIRE_ABORTED",
        `it should say ACQUIRE_ABORTED: ${inWords(answer)}`,
      );
      wire.set("pass");
      // One's own half-finished acquire stands in the way until it has ended: it must end soon.
      await (await a.take(context.graph, { withinMs: acquireTimeoutMs + slackMs })).release();
    },
  },
  {
    law: law.noOrphans,
    name: "an acquire whose answer was lost on the way leaves nothing behind",
    async run(context) {
      const wire = await context.wire();
      const a = await context.replica("a", { settings: wire.settings, acquireTimeoutMs: 700 });
      const b = await context.replica("b");
      // A refusal first: what asks next may then be on a connection that already works.
      const first = await b.take(context.graph);
      await a.refused(context.graph);
      await first.release();
      wire.set("no-reply");
      const error = await a.error(context.graph, { withinMs: 700 + slackMs });
      check(error.isBackendError, `it should have thrown a BackendError: ${inWords(error)}`);
      wire.set("pass");
      const { processKilledMs } = context.guarantees.handover;
      const next = await b.takeWithin(processKilledMs + answerWithinMs, context.graph);
      await next.release();
    },
  },
  {
    law: law.noOrphans,
    name: "an acquire that is under way when its coordinator is closed leaves nothing behind",
    async run(context) {
      const b = await context.replica("b");
      for (let round = 0; round < 5; round += 1) {
        const a = await context.replica(`a${round}`);
        const asking = a.ask(context.graph);
        const thrown = await a.close();
        check(thrown === undefined, `close threw ${inWords(thrown)}`);
        const { answer } = await asking;
        check(
          answer.kind !== "error" || answer.error.code === "COORDINATOR_CLOSED",
          `it should say COORDINATOR_CLOSED: ${inWords(answer)}`,
        );
        const next = await b.takeWithin(answerWithinMs, context.graph);
        await next.release();
      }
    },
  },
  {
    law: law.noOrphans,
    name: "after close the process ends by itself",
    async run(context) {
      const a = await context.replica("a", { place: "process" });
      const b = await context.replica("b", { beside: a });
      for (let count = 0; count < 10; count += 1) {
        await a.tick(context.graph, { hold: 0, throws: count % 3 === 0 }).report;
        const held = await a.take(context.graph);
        await b.refused(context.graph);
        await held.release();
      }
      await a.inspect();
      await a.preflight();
      const exit = await context.leave(a, exitWithinMs);
      check(exit.code === 0, `the process should have ended well: ${inWords(exit)}`);
    },
  },
  {
    law: law.noOrphans,
    name: "after close the process ends by itself, also when the backend was down",
    async run(context) {
      const settings = await context.unreachable();
      const a = await context.replica("a", { settings, place: "process" });
      await a.error(context.graph, { withinMs: acquireTimeoutMs + slackMs });
      const exit = await context.leave(a, exitWithinMs);
      check(exit.code === 0, `the process should have ended well: ${inWords(exit)}`);
    },
  },
];
