import { slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import { pause } from "../promises.js";
import type { CaseContext } from "../suite/context.js";
import type { LawCase } from "./law-case.js";

/**
 * The kernel answers keepalives for a wire, so a wire hides from a server that watches its sessions that
 * a host is gone. A lease ends by its own clock, whatever becomes of the connection.
 */
async function wayThatVanishes(context: CaseContext) {
  if (context.guarantees.frozenHolder === "keeps-grant") {
    const { settings, cut, restore } = context.fault("hostVanishes");
    return { settings: { value: settings }, cut, restore };
  }
  const wire = await context.wire();
  return {
    settings: wire.settings,
    cut: async () => wire.set("hole"),
    restore: async () => wire.set("pass"),
  };
}

export const crashCases: readonly LawCase[] = [
  {
    law: law.crash,
    name: "a holder that is killed is replaced within the bound that its guarantees state",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const running = a.tick(context.graph, { hold: "until-told" });
      const { fence } = await running.began();
      await b.refused(context.graph);
      await context.kill(a);
      const { processKilledMs } = context.guarantees.handover;
      const held = await b.takeWithin(processKilledMs + slackMs, context.graph);
      check(held.fence > fence, `the fence should have risen: ${fence}, then ${held.fence}`);
      await held.release();
    },
  },
  {
    law: law.crash,
    name: "a holder whose host vanished is replaced within the bound that its guarantees state",
    async run(context) {
      const way = await wayThatVanishes(context);
      const a = await context.replica("a", { settings: way.settings });
      const b = await context.replica("b");
      const held = await a.take(context.graph);
      await b.refused(context.graph);
      await way.cut();
      try {
        const { hostVanishedMs } = context.guarantees.handover;
        const next = await b.takeWithin(hostVanishedMs + slackMs, context.graph);
        check(
          next.fence > held.fence,
          `the fence should have risen: ${held.fence}, then ${next.fence}`,
        );
        await next.release();
      } finally {
        await way.restore();
      }
    },
  },
  {
    law: law.crash,
    name: "a process that is stopped keeps its grant or is replaced, as its guarantees say",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { frozenHolder, handover, lossToldWithinMs } = context.guarantees;
      const held = await a.take(context.graph);
      await context.freeze(a);
      if (frozenHolder === "is-replaced") {
        context.excuse(held.run);
        const next = await b.takeWithin(handover.hostVanishedMs + slackMs, context.graph);
        check(next.fence > held.fence, `the fence should have risen: ${held.fence}, ${next.fence}`);
        await context.thaw(a);
        await held.lost(lossToldWithinMs + slackMs);
        const late = await held.settle("done");
        check(late?.isGrantLost, `the late settle should say GRANT_LOST: ${inWords(late)}`);
        const kept = await next.confirmHeld();
        check(kept === undefined, `the late settle harmed the next holder: ${inWords(kept)}`);
        await next.release();
        return;
      }
      const until = performance.now() + lossToldWithinMs + slackMs;
      while (performance.now() < until) {
        await b.refused(context.graph);
        await pause(100);
      }
      await context.thaw(a);
      // The session outlived the stop: after a question to the backend the grant is certain again.
      const thrown = await held.confirmHeld();
      check(
        thrown === undefined,
        `the stopped holder should have kept its grant: ${inWords(thrown)}`,
      );
      await b.refused(context.graph);
      await held.release();
      await (await b.take(context.graph)).release();
    },
  },
];
