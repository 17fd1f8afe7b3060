import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import { within } from "../promises.js";
import type { LawCase } from "./law-case.js";

export const handOverWaitsCases: readonly LawCase[] = [
  {
    law: law.handOverWaits,
    name: "work that was stopped by its caller keeps the graph until it has settled",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const running = a.tick(context.graph, { hold: "until-told", ignoresStop: true });
      await running.began();
      await running.abort();
      for (let count = 0; count < 10; count += 1) await b.refused(context.graph);
      await running.finish();
      await running.ends("ran");
      await (await b.take(context.graph)).release();
    },
  },
  {
    law: law.handOverWaits,
    name: "a coordinator that closes asks its work to stop, and lets go only when it has",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const running = a.tick(context.graph, { hold: "until-told", ignoresStop: true });
      await running.began();
      const closing = a.close();
      await running.draining(slackMs);
      for (let count = 0; count < 10; count += 1) await b.refused(context.graph);
      await running.finish();
      const thrown = await closing;
      check(thrown === undefined, `close threw ${inWords(thrown)}`);
      await running.ends("ran");
      await (await b.take(context.graph)).release();
    },
  },
  {
    law: law.handOverWaits,
    name: "work that is over its grace loses the grant, is told so, and the graph goes on",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const running = a.tick(context.graph, { hold: "until-told", ignoresStop: true });
      // It is told, and writes on: the outcome says so, and the fence is for the rest.
      context.excuse(running.run);
      await running.began();
      const graceMs = 300;
      const closing = within(graceMs + answerWithinMs, "close ended", a.close(graceMs));
      await running.lost(graceMs + slackMs);
      const thrown = await closing;
      check(thrown === undefined, `close threw ${inWords(thrown)}`);
      const { processKilledMs } = context.guarantees.handover;
      const next = await b.takeWithin(processKilledMs + slackMs, context.graph);
      await running.finish();
      const ended = await running.ends("lost");
      check(
        ended.error?.reason === "closed",
        `the outcome should say that the grace was over: ${inWords(ended)}`,
      );
      const kept = await next.confirmHeld();
      check(kept === undefined, `the next holder lost its grant too: ${inWords(kept)}`);
      await next.release();
    },
  },
];
