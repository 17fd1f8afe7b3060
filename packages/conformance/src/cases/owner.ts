import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { LawCase } from "./law-case.js";
import { takeAway } from "./loss.js";

const window = "2026-03-01T02:30:00.000Z";

export const onlyTheOwnerSettlesCases: readonly LawCase[] = [
  {
    law: law.onlyTheOwnerSettles,
    name: "settling a grant that was lost changes nothing for the next holder, and says GRANT_LOST",
    async run(context) {
      const [a, b, c] = await context.replicas("a", "b", "c");
      check(a && b && c, "three replicas");
      for (const ending of ["done", "failed", "handed-back", "waiting"] as const) {
        const held = await a.take(context.graph, { window });
        await takeAway(context, a, held);
        // Nobody can tell the holder in time of what was done behind its back.
        context.excuse(held.run);
        const next = await b.takeWithin(
          context.guarantees.handover.processKilledMs + slackMs,
          context.graph,
        );
        const thrown = await held.settle(ending);
        check(
          thrown?.isGrantLost,
          `"${ending}" on a lost grant should say GRANT_LOST: ${inWords(thrown)}`,
        );
        const again = await held.settle("dispose");
        check(again === undefined, `to dispose of a lost grant should be quiet: ${inWords(again)}`);
        const kept = await next.confirmHeld();
        check(kept === undefined, `the next holder lost its grant by that: ${inWords(kept)}`);
        const refusal = await c.refused(context.graph);
        check(
          refusal.holder === undefined || refusal.holder.label === "b",
          `the next holder is "b", but: ${inWords(refusal)}`,
        );
        await next.release("failed");
      }
      const rest = await c.take(context.graph, { window });
      await rest.release();
    },
  },
  {
    law: law.onlyTheOwnerSettles,
    name: "a grant that was settled twice does not release the grant after it",
    async run(context) {
      const [a, b, c] = await context.replicas("a", "b", "c");
      check(a && b && c, "three replicas");
      for (const next of [a, b]) {
        const first = await a.take(context.graph);
        await first.release();
        const second = await next.take(context.graph);
        for (const ending of ["failed", "dispose", "done"] as const) await first.settle(ending);
        const kept = await second.confirmHeld();
        check(kept === undefined, `the grant after it was released: ${inWords(kept)}`);
        await c.refused(context.graph);
        await second.release();
      }
    },
  },
  {
    law: law.onlyTheOwnerSettles,
    name: "the first ending counts, also when two come at one time",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph, { window });
      const both = await Promise.all([held.settle("failed"), held.settle("done")]);
      check(
        both.every((thrown) => thrown === undefined),
        `both settles should have been quiet: ${inWords(both)}`,
      );
      // Failed came first, so the window has not run.
      const again = await b.takeWithin(answerWithinMs, context.graph, { window });
      await again.release();
    },
  },
  {
    law: law.onlyTheOwnerSettles,
    name: "a grant that was settled is not held any more by its own word",
    async run(context) {
      const a = await context.replica("a");
      const held = await a.take(context.graph);
      const before = [await held.assertHeld(), await held.confirmHeld()];
      check(
        before.every((thrown) => thrown === undefined),
        `a grant just given should be held: ${inWords(before)}`,
      );
      await held.release();
      for (const thrown of [await held.assertHeld(), await held.confirmHeld()])
        check(
          thrown?.isGrantLost && thrown.reason === "settled",
          `after settle it should say GRANT_LOST, settled: ${inWords(thrown)}`,
        );
      check(held.losses() === 0, "a grant that was settled was told as lost");
    },
  },
];

export const notReentrantCases: readonly LawCase[] = [
  {
    law: law.notReentrant,
    name: "a second acquire of the same coordinator is refused like anybody else's",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      for (let count = 0; count < 3; count += 1) {
        const refusal = await a.refused(context.graph);
        check(
          refusal.holder === undefined || refusal.holder.label === "a",
          `the holder is this process: ${inWords(refusal)}`,
        );
      }
      await held.release();
      // One release is enough, however often it was asked for.
      await (await b.take(context.graph)).release();
    },
  },
  {
    law: law.notReentrant,
    name: "of many acquires at one time in one process exactly one is granted",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      for (let round = 0; round < context.options.rounds; round += 1) {
        const asked = await Promise.all(Array.from({ length: 5 }, () => a.ask(context.graph)));
        const granted = asked.flatMap(({ held }) => held ?? []);
        check(
          granted.length === 1 && asked.every(({ answer }) => answer.kind !== "error"),
          `one should have been granted and four refused: ${inWords(asked.map(({ answer }) => answer))}`,
        );
        for (const held of granted) await held.release();
        await (await b.take(context.graph)).release();
      }
    },
  },
  {
    law: law.notReentrant,
    name: "work that asks for its own graph is refused, not deadlocked and not granted",
    async run(context) {
      const a = await context.replica("a");
      const ended = await a.tick(context.graph, { hold: 0, nests: true }).ends("ran");
      const { value } = ended;
      check(
        typeof value === "object" &&
          value !== null &&
          "status" in value &&
          value.status === "skipped",
        `the tick inside should have been skipped: ${inWords(value)}`,
      );
    },
  },
  {
    law: law.notReentrant,
    name: "two coordinators in one process keep each other out",
    async run(context) {
      const a = await context.replica("a");
      const b = await context.replica("b", { beside: a });
      const held = await a.take(context.graph);
      await b.refused(context.graph);
      await held.release();
      await (await b.take(context.graph)).release();
    },
  },
];
