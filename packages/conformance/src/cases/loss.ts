import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import { pause, settlesWithin } from "../promises.js";
import type { CaseContext } from "../suite/context.js";
import type { Held } from "../suite/held.js";
import type { Replica } from "../suite/replica.js";
import type { LawCase } from "./law-case.js";

/** Ends the grant at the backend, behind its holder's back. */
export async function takeAway(context: CaseContext, from: Replica, held: Held): Promise<void> {
  await context.fault("takeAway")({
    app: from.app,
    graph: held.graph,
    label: from.label,
    holderId: held.holder.id,
    fence: held.fence,
  });
}

async function checkIsOver(held: Held): Promise<void> {
  for (const ask of [held.assertHeld, held.confirmHeld, () => held.settle("done")]) {
    const thrown = await ask();
    check(
      thrown?.isGrantLost,
      `after a loss assertHeld, confirmHeld and settle should all say GRANT_LOST: ${inWords(thrown)}`,
    );
  }
}

/** Told once means told once also a while later, when renewals and probes have come round again. */
const aWhileMs = 500;

export const lossIsToldCases: readonly LawCase[] = [
  {
    law: law.lossIsTold,
    name: "a grant that is ended at the backend aborts its signal, once, and is not taken again in silence",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      await takeAway(context, a, held);
      await held.lost(context.guarantees.lossToldWithinMs + slackMs);
      const next = await b.takeWithin(answerWithinMs, context.graph);
      check(next.fence > held.fence, `the fence should have risen: ${held.fence}, ${next.fence}`);
      await checkIsOver(held);
      await pause(aWhileMs);
      check(held.losses() === 1, `the loss should have been told once, not ${held.losses()} times`);
      const kept = await next.confirmHeld();
      check(kept === undefined, `the next holder lost its grant too: ${inWords(kept)}`);
      await next.release();
    },
  },
  {
    law: law.lossIsTold,
    name: "the work under a lost grant is told, and its outcome is lost",
    async run(context) {
      const a = await context.replica("a");
      const running = a.tick(context.graph, { hold: "until-told" });
      const { fence } = await running.began();
      await context.fault("takeAway")({
        app: a.app,
        graph: context.graph,
        label: a.label,
        holderId: a.opened.holder.id,
        fence,
      });
      const ended = await running.ends("lost", context.guarantees.lossToldWithinMs + slackMs);
      check(ended.error?.isGrantLost, `the outcome should say GRANT_LOST: ${inWords(ended)}`);
      // The process goes on: it may hold the graph again, by a grant that it asked for.
      await (await a.takeWithin(answerWithinMs, context.graph)).release();
    },
  },
  {
    law: law.lossIsTold,
    name: "a holder that the backend stops answering is told before anybody else is granted",
    async run(context) {
      const { lossToldWithinMs, handover, frozenHolder } = context.guarantees;
      const wire = await context.wire();
      const a = await context.replica("a", { settings: wire.settings });
      const b = await context.replica("b");
      const held = await a.take(context.graph);
      wire.set("hole");
      const told = held.lost(lossToldWithinMs + slackMs);
      // A session is over when its server sees it end, and behind this wire that takes a cut. Until the
      // holder is told, the questions of "b" must find it held.
      if (frozenHolder === "keeps-grant") void told.then(wire.cut, wire.cut);
      const next = await b.takeWithin(handover.hostVanishedMs + slackMs, context.graph);
      const { at } = await told;
      const begin = context.runs().find(({ fence }) => fence === next.fence)?.begin;
      check(
        begin !== undefined && at < begin,
        `the holder was told at ${at} ns, and the next one had begun at ${begin} ns`,
      );
      await next.release();
      check(held.losses() === 1, `the loss should have been told once, not ${held.losses()} times`);
    },
  },
  {
    law: law.lossIsTold,
    name: "a connection that is cut ends in a loss that is told, or in a grant that is really held",
    async run(context) {
      const wire = await context.wire();
      const a = await context.replica("a", { settings: wire.settings });
      const b = await context.replica("b");
      const held = await a.take(context.graph);
      wire.cut();
      const boundMs = context.guarantees.lossToldWithinMs + slackMs;
      // Longer than it is waited for, so that the end of the wait is not taken for the loss.
      const told = held.lost(boundMs + slackMs);
      if (await settlesWithin(boundMs, told)) {
        await told;
        await (await b.takeWithin(answerWithinMs, context.graph)).release();
        return checkIsOver(held);
      }
      const thrown = await held.confirmHeld();
      check(thrown === undefined, `no loss was told, and confirmHeld says: ${inWords(thrown)}`);
      await b.refused(context.graph);
      await held.release();
    },
  },
  {
    law: law.lossIsTold,
    name: "over a restart of the backend a grant is lost and told, or is really held",
    async run(context) {
      const restart = context.fault("restartBackend");
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      await restart();
      const boundMs = context.guarantees.lossToldWithinMs + slackMs;
      // Longer than it is waited for, so that the end of the wait is not taken for the loss.
      const told = held.lost(boundMs + slackMs);
      const wasTold = await settlesWithin(boundMs, told);
      if (wasTold) await told;
      const { answer, held: next } = await b.ask(context.graph);
      check(
        wasTold ? next : answer.kind === "refused",
        `the holder was ${wasTold ? "" : "not "}told of a loss, and another replica got: ${inWords(answer)}`,
      );
      if (next) {
        check(next.fence > held.fence, `the fence should have risen: ${held.fence}, ${next.fence}`);
        await next.release();
      } else await held.release();
    },
  },
];
