import { answerWithinMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { CaseContext } from "../suite/context.js";
import type { LawCase } from "./law-case.js";

/** Takes the graph in turn by new coordinators; each is a holder nobody has seen before. */
async function fencesOf(context: CaseContext, labels: readonly string[]): Promise<bigint[]> {
  const fences: bigint[] = [];
  for (const label of labels) {
    const replica = await context.replica(label);
    const held = await replica.takeWithin(answerWithinMs, context.graph);
    check(typeof held.fence === "bigint", `a fence must be a bigint: ${inWords(held.fence)}`);
    fences.push(held.fence);
    await held.release(fences.length % 2 === 0 ? "failed" : "done");
    await replica.close();
  }
  return fences;
}

function checkRise(fences: readonly bigint[]): void {
  const rises = fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? fence));
  check(rises, `every fence should have been larger than the one before: ${inWords(fences)}`);
}

export const fencesRiseCases: readonly LawCase[] = [
  {
    law: law.fencesRise,
    name: "every grant has a larger fence than the one before, over restarts of the holders",
    async run(context) {
      checkRise(await fencesOf(context, ["a", "b", "c", "d"]));
    },
  },
  {
    law: law.fencesRise,
    name: "fences rise in one replica from grant to grant, however fast they come",
    async run(context) {
      const a = await context.replica("a");
      const fences: bigint[] = [];
      for (let count = 0; count < 100; count += 1) {
        const held = await a.take(context.graph);
        fences.push(held.fence);
        await held.release();
      }
      checkRise(fences);
    },
  },
  {
    law: law.fencesRise,
    name: "fences rise over a restart of the backend",
    async run(context) {
      const restart = context.fault("restartBackend");
      const before = await fencesOf(context, ["a", "b"]);
      await restart();
      checkRise([...before, ...(await fencesOf(context, ["c", "d"]))]);
    },
  },
  {
    law: law.fencesRise,
    name: "fences rise although the backend forgot everything",
    async run(context) {
      const loseData = context.fault("loseData");
      const before = await fencesOf(context, ["a", "b"]);
      await loseData();
      checkRise([...before, ...(await fencesOf(context, ["c", "d"]))]);
    },
  },
  {
    law: law.fencesRise,
    name: "a coordinator that was open when the backend forgot everything goes on, with a larger fence",
    async run(context) {
      const loseData = context.fault("loseData");
      const a = await context.replica("a");
      const first = await a.take(context.graph);
      await first.release();
      await loseData();
      const second = await a.takeWithin(answerWithinMs, context.graph);
      checkRise([first.fence, second.fence]);
      await second.release();
    },
  },
];
