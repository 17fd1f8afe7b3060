import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { PlainEnding } from "../replica/plain.js";
import type { LawCase } from "./law-case.js";

const endings: readonly (PlainEnding | "dispose")[] = [
  "done",
  "failed",
  "handed-back",
  "waiting",
  "dispose",
];

export const everyEndingReleasesCases: readonly LawCase[] = [
  {
    law: law.everyEndingReleases,
    name: "after every kind of ending another replica is granted at once, and the same one too",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      for (const ending of endings) {
        await (await a.take(context.graph)).release(ending);
        await (await b.take(context.graph)).release(ending);
        await (await b.take(context.graph)).release(ending);
      }
    },
  },
  {
    law: law.everyEndingReleases,
    name: "work that returns, throws, or is stopped by its caller leaves the graph free",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      for (let round = 0; round < 3; round += 1) {
        await a.tick(context.graph, { hold: 0 }).ends("ran");
        await b.tick(context.graph, { hold: 0 }).ends("ran");
        const failed = await a.tick(context.graph, { hold: 0, throws: true }).ends("failed");
        check(
          failed.error?.message.includes("as the suite told it to"),
          `the outcome should have kept the error of the work: ${inWords(failed)}`,
        );
        await b.tick(context.graph, { hold: 0 }).ends("ran");
        const stopped = a.tick(context.graph, { hold: "until-told" });
        await stopped.began();
        await stopped.abort();
        await stopped.ends("handed-back");
        await b.tick(context.graph, { hold: 0 }).ends("ran");
      }
    },
  },
  {
    law: law.everyEndingReleases,
    name: "a coordinator that is closed lets go of what it held, and is not asked any more",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const running = a.tick(context.graph, { hold: "until-told" });
      await running.began();
      const thrown = await a.close();
      check(thrown === undefined, `close threw ${inWords(thrown)}`);
      await running.ends("handed-back");
      await (await b.take(context.graph)).release();
      const late = await a.error(context.graph);
      check(
        late.code === "COORDINATOR_CLOSED",
        `a closed coordinator should say COORDINATOR_CLOSED: ${inWords(late)}`,
      );
    },
  },
];

export const independenceCases: readonly LawCase[] = [
  {
    law: law.independence,
    name: "two graphs run at one time, in two replicas and in one",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const one = await a.take("restock_plan");
      const two = await b.take("fulfil_order");
      const three = await a.take("pack_audit");
      await b.refused("restock_plan");
      await one.release();
      await three.release();
      // The end of two grants must not have been the end of the third.
      const { answer } = await a.ask("fulfil_order");
      check(answer.kind === "refused", `"fulfil_order" is still held: ${inWords(answer)}`);
      await two.release();
    },
  },
  {
    law: law.independence,
    name: "two applications on one backend have a graph of the same name each",
    async run(context) {
      const a = await context.replica("a");
      const b = await context.replica("b", { app: `${context.app}-other` });
      const one = await a.take(context.graph);
      const two = await b.take(context.graph);
      const seen = await b.inspect(context.graph);
      const holders = "statuses" in seen ? seen.statuses.map(({ holder }) => holder?.label) : [];
      check(
        !holders.includes("a"),
        `one application sees the holder of the other: ${inWords(seen)}`,
      );
      await one.release();
      const { answer } = await a.ask(context.graph);
      check(
        answer.kind === "granted",
        `"${context.graph}" of the first is free: ${inWords(answer)}`,
      );
      await two.release();
    },
  },
  {
    law: law.independence,
    name: "a holder on one graph does not slow the answers about a hundred others",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      for (let index = 0; index < 100; index += 1) await (await b.take(`graph-${index}`)).release();
      await held.release();
    },
  },
];
