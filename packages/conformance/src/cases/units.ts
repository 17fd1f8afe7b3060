import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import type { CaseContext } from "../suite/context.js";
import type { HeldUnit, ReplicaUnits } from "../suite/units.js";
import type { LawCase } from "./law-case.js";
import { unitCase } from "./unit-case.js";

/** A unit of a dead replica comes back after the hand-over, and a pause of at most a few seconds. */
function backWithinMs({ guarantees }: CaseContext): number {
  return guarantees.handover.processKilledMs + answerWithinMs + slackMs;
}

function checkUnit(held: HeldUnit, id: string, attempt: number): void {
  check(
    held.unit.id === id && held.unit.attempt === attempt,
    `it should have been unit ${id} in attempt ${attempt}: ${inWords(held.unit)}`,
  );
}

export const noUnitLostCases: readonly LawCase[] = [
  unitCase("every unit that was accepted is claimed once, and ends as done", async (context) => {
    const [a, b] = await context.replicas("a", "b");
    check(a && b, "two replicas");
    const graphs = ["g1", "g2", "g3"];
    const count = 6 * context.options.rounds;
    const accepted = await a.units.submitMany(
      Array.from({ length: count }, (_, index) => ({
        graph: graphs[index % graphs.length] ?? "g1",
        payload: index,
      })),
    );
    const ids = new Set(accepted.map(({ id }) => id));
    check(ids.size === count, `${count} units should have ${count} ids: ${inWords(accepted)}`);
    const seen: string[] = [];
    async function workOff(units: ReplicaUnits): Promise<void> {
      for (let idle = 0; idle < 3; ) {
        const held = await units.claim(2);
        idle = held.length === 0 ? idle + 1 : 0;
        for (const one of held) {
          seen.push(one.unit.id);
          await one.release("done");
        }
      }
    }
    await Promise.all([workOff(a.units), workOff(b.units)]);
    await workOff(a.units);
    check(
      seen.length === count && seen.every((id) => ids.has(id)) && new Set(seen).size === count,
      `each unit should have been claimed once; of ${count}, ${seen.length} claims were made`,
    );
    const after = await b.units.read({ limit: 1_000 });
    check(
      after.length === count && after.every(({ state }) => state === "done"),
      `every unit should be done: ${inWords(after.filter(({ state }) => state !== "done"))}`,
    );
  }),
  unitCase(
    "of one graph one unit runs at a time, in the order of priority, time and submission",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { graph } = context;
      const [first, urgent, early, second] = await a.units.submitMany([
        { graph },
        { graph, priority: 10 },
        { graph, runAt: new Date(Date.now() - 3_600_000) },
        { graph },
      ]);
      await a.units.submit(graph, { priority: 20, runAt: new Date(Date.now() + 3_600_000) });
      for (const expected of [urgent, early, first, second]) {
        const [held, ...more] = await a.units.claim(5);
        check(held && more.length === 0, "one unit of the graph should have been claimed");
        check(
          held.unit.id === expected?.id,
          `unit ${expected?.id} should have come next: ${inWords(held.unit)}`,
        );
        const other = await b.units.claim(5);
        check(other.length === 0, `a second unit of the graph was given: ${inWords(other)}`);
        const refusal = await b.refused(graph);
        check(refusal.holder?.label === "a", `"a" holds the graph: ${inWords(refusal)}`);
        await held.release("done");
      }
      check((await b.units.claim(5)).length === 0, "a unit came before its time");
    },
  ),
  unitCase("an acquire of a graph with a unit that is due brings that unit", async (context) => {
    const [a, b] = await context.replicas("a", "b");
    check(a && b, "two replicas");
    const { id } = await a.units.submit(context.graph, { payload: { order: 7 } });
    const held = await a.take(context.graph);
    const running = await b.units.one(id);
    check(
      running.state === "running" && running.fence === held.fence,
      `the unit should run under fence ${held.fence}: ${inWords(running)}`,
    );
    check((await b.units.claim()).length === 0, "the unit was given twice");
    await held.release("done");
    const ended = await b.units.one(id);
    check(ended.state === "done", `the unit should be done: ${inWords(ended)}`);
    await (await b.take(context.graph)).release();
  }),
  unitCase(
    "the unit of a replica that was killed is claimed again, with its start counted",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { id } = await a.units.submit(context.graph, { maxAttempts: 3 });
      const lost = await a.units.claimWithin(answerWithinMs);
      checkUnit(lost, id, 1);
      await context.kill(a);
      const again = await b.units.claimWithin(backWithinMs(context));
      checkUnit(again, id, 2);
      check(again.fence > lost.fence, `the fence should have risen: ${lost.fence}, ${again.fence}`);
      await again.release("done");
    },
  ),
  unitCase(
    "a unit whose replica is killed in its last attempt is a dead letter that says so, and its graph goes on",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { id } = await a.units.submit(context.graph, { maxAttempts: 1 });
      const { id: next } = await a.units.submit(context.graph);
      checkUnit(await a.units.claimWithin(answerWithinMs), id, 1);
      await context.kill(a);
      const held = await b.units.claimWithin(backWithinMs(context));
      checkUnit(held, next, 1);
      const dead = await b.units.one(id);
      check(
        dead.state === "dead" && /vanished/.test(dead.reason ?? ""),
        `it should be a dead letter with a worker that vanished: ${inWords(dead)}`,
      );
      await held.release("done");
    },
  ),
  unitCase("handing back costs no attempt, however often", async (context) => {
    const [a, b] = await context.replicas("a", "b");
    check(a && b, "two replicas");
    const { id } = await a.units.submit(context.graph, { maxAttempts: 2 });
    for (const replica of [a, b, a, b]) {
      const held = await replica.units.claimWithin(answerWithinMs);
      checkUnit(held, id, 1);
      await held.release("handed-back");
    }
    const c = await context.replica("c");
    checkUnit(await c.units.claimWithin(answerWithinMs), id, 1);
    const thrown = await c.close(0);
    check(thrown === undefined, `close threw ${inWords(thrown)}`);
  }),
  unitCase(
    "a failure costs an attempt, and the last one makes a dead letter with a reason",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { id } = await a.units.submit(context.graph, { maxAttempts: 2 });
      for (const attempt of [1, 2]) {
        const held = await b.units.claimWithin(backWithinMs(context));
        checkUnit(held, id, attempt);
        await held.release("failed");
      }
      const dead = await a.units.one(id);
      check(
        dead.state === "dead" && dead.reason?.includes("the work failed"),
        `it should be a dead letter with the error as its reason: ${inWords(dead)}`,
      );
      const retried = await a.units.change({ do: "retry", id });
      check(retried.changed, `a dead letter should be retried: ${inWords(retried)}`);
      const held = await b.units.claimWithin(answerWithinMs);
      checkUnit(held, id, 1);
      await held.release("done");
    },
  ),
  unitCase(
    "a replica that was stopped past its time changes nothing of the unit that another has",
    async (context) => {
      if (context.guarantees.frozenHolder === "keeps-grant") return;
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { id } = await a.units.submit(context.graph, { maxAttempts: 5 });
      const stale = await a.units.claimWithin(answerWithinMs);
      await context.freeze(a);
      context.excuse(stale.run);
      const next = await b.units.claimWithin(backWithinMs(context));
      checkUnit(next, id, 2);
      const before = await b.units.one(id);
      await context.thaw(a);
      for (const ending of ["failed", "done", "handed-back", "waiting"] as const) {
        const thrown = await stale.settle(ending);
        check(thrown?.isGrantLost, `a late "${ending}" should say GRANT_LOST: ${inWords(thrown)}`);
      }
      const after = await b.units.one(id);
      check(
        inWords(after) === inWords(before),
        `the late endings changed the unit: ${inWords(before)}, then ${inWords(after)}`,
      );
      await next.release("done");
    },
  ),
];
