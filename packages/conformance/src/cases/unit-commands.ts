import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import type { LawCase } from "./law-case.js";
import { unitCase } from "./unit-case.js";

export const unitCommandCases: readonly LawCase[] = [
  unitCase("a key adds nothing while its unit is unfinished, and says so", async (context) => {
    const [a, b] = await context.replicas("a", "b");
    check(a && b, "two replicas");
    const { graph } = context;
    const both = await Promise.all([a, b].map(({ units }) => units.submit(graph, { key: "k" })));
    const fresh = both.filter(({ isNew }) => isNew);
    check(
      fresh.length === 1 && both[0]?.id === both[1]?.id,
      `of two submits of one key at one time one is new, and both answer with it: ${inWords(both)}`,
    );
    const held = await a.units.claimWithin(answerWithinMs);
    const during = await b.units.submit(graph, { key: "k" });
    check(!during.isNew, `a unit that runs is unfinished: ${inWords(during)}`);
    const elsewhere = await b.units.submit("another graph", { key: "k" });
    check(elsewhere.isNew, `a key belongs to its graph: ${inWords(elsewhere)}`);
    await held.release("done");
    const again = await b.units.submit(graph, { key: "k" });
    check(again.isNew, `a key is free when its unit is done: ${inWords(again)}`);
  }),
  unitCase(
    "a unit that waits holds nothing, and of two resumes one goes through, with its value",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { graph } = context;
      const { id } = await a.units.submit(graph);
      await (await a.units.claimWithin(answerWithinMs)).release("waiting");
      const parked = await b.units.one(id);
      check(
        parked.state === "waiting" && parked.on === "the suite",
        `it should wait for the suite: ${inWords(parked)}`,
      );
      await (await b.take(graph)).release();
      const resumes = await Promise.all(
        [a, b].map(({ units, label }) => units.change({ do: "resume", id, value: label })),
      );
      const [winner, ...others] = [a, b].filter((_, index) => resumes[index]?.changed);
      check(
        winner && others.length === 0,
        `one resume should have changed it: ${inWords(resumes)}`,
      );
      const held = await b.units.claimWithin(answerWithinMs);
      check(
        held.unit.resumed?.value === winner.label,
        `it should have been resumed with "${winner.label}": ${inWords(held.unit)}`,
      );
      await held.release("done");
      const late = await a.units.change({ do: "resume", id, value: "late" });
      check(!late.changed && late.state === "done", `it is done: ${inWords(late)}`);
    },
  ),
  unitCase(
    "a unit that was cancelled is started no more, and one that runs is told",
    async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const { graph } = context;
      const [running, queued, kept] = await a.units.submitMany([{ graph }, { graph }, { graph }]);
      check(running && queued && kept, "three units");
      const held = await a.units.claimWithin(answerWithinMs);
      for (const { id } of [running, queued]) {
        const answer = await b.units.change({ do: "cancel", id });
        check(answer.changed, `unit ${id} should have been cancelled: ${inWords(answer)}`);
      }
      check((await b.units.claim(5)).length === 0, "the graph is held until the run has ended");
      await held.lost(context.guarantees.lossToldWithinMs + slackMs);
      const thrown = await held.settle("done");
      check(thrown?.isGrantLost, `its ending should say GRANT_LOST: ${inWords(thrown)}`);
      const next = await b.units.claimWithin(answerWithinMs);
      check(next.unit.id === kept.id, `unit ${kept.id} is next: ${inWords(next.unit)}`);
      await next.release("done");
      for (const { id } of [running, queued]) {
        const one = await b.units.one(id);
        check(one.state === "cancelled", `it should stay cancelled: ${inWords(one)}`);
      }
    },
  ),
  unitCase("the backlog is counted by graph, and a unit that is over can go", async (context) => {
    const a = await context.replica("a");
    const { graph } = context;
    await a.units.submitMany([
      { graph },
      { graph },
      { graph, runAt: new Date(Date.now() + 3_600_000) },
      { graph: "another graph" },
    ]);
    const held = await a.units.claimWithin(answerWithinMs, [graph]);
    const counts = await a.units.count();
    const own = counts.find((one) => one.graph === graph);
    check(
      own?.due === 1 && own.scheduled === 1 && own.running === 1 && own.dead === 0,
      `one due, one scheduled and one running were expected: ${inWords(counts)}`,
    );
    check(
      own.oldestDueMs !== undefined && own.oldestDueMs < context.options.caseTimeoutMs,
      `the oldest has been due for a moment: ${inWords(own)}`,
    );
    const early = await a.units.change({ do: "discard", id: held.unit.id });
    check(!early.changed, `a unit that runs is not discarded: ${inWords(early)}`);
    await held.release("done");
    const gone = await a.units.change({ do: "discard", id: held.unit.id });
    check(gone.changed, `a unit that is done is discarded: ${inWords(gone)}`);
    check((await a.units.read({ id: held.unit.id })).length === 0, "it is still there");
  }),
  unitCase("what cannot be stored is refused before anything is", async (context) => {
    const a = await context.replica("a");
    const { graph } = context;
    const long = "k".repeat(10_000);
    for (const unit of [
      { payload: "a\u0000b" },
      { payload: { deep: ["\ud800"] } },
      { payload: Number.NaN },
      { payload: 10n },
      { key: "" },
      { key: long },
      { priority: 0.5 },
      { maxAttempts: 0 },
      { runAt: new Date(Number.NaN) },
    ]) {
      const error = await a.units.submitError(graph, unit);
      check(
        error.code === "INVALID_OPTION",
        `${Object.keys(unit)[0]} should be refused with INVALID_OPTION: ${inWords(error)}`,
      );
    }
    check((await a.units.read()).length === 0, "something was stored all the same");
    const payload = { text: "ä€𝄞 \" \\ '", list: [1, 2.5, -0.001, null, true], none: {} };
    await a.units.submit(graph, { payload });
    const held = await a.units.claimWithin(answerWithinMs);
    check(
      JSON.stringify(held.unit.payload, Object.keys(payload)) ===
        JSON.stringify(payload, Object.keys(payload)),
      `the payload came back as ${inWords(held.unit.payload)}`,
    );
    await held.release("done");
  }),
];
