import type { Refusal } from "@sole-writer/core";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { Held } from "../suite/held.js";
import type { Replica } from "../suite/replica.js";
import type { LawCase } from "./law-case.js";
import { raceOnce } from "./race.js";

/**
 * A refusal names the holder, with label, fence and time. One that does not is a fault where the same
 * backend tells `inspect` who it is.
 */
async function checkNames(refusal: Refusal, held: Held, label: string, asker: Replica) {
  const said = inWords(refusal);
  check(refusal.reason === "held", `the reason should have been "held": ${said}`);
  check(refusal.graph === held.graph, `it should have been about "${held.graph}": ${said}`);
  const { holder } = refusal;
  if (!holder) {
    check(
      refusal.message.includes("cannot be known"),
      `a refusal that names nobody must say that the holder cannot be known: ${said}`,
    );
    const seen = await asker.inspect(held.graph);
    check(
      "statuses" in seen && seen.statuses.every((status) => !status.holder),
      `the refusal names nobody, and yet inspect knows the holder: ${inWords(seen)}`,
    );
    return;
  }
  check(holder.label === label, `it should have named "${label}": ${said}`);
  check(
    holder.id === held.holder.id,
    `it should have given the holder's id ${held.holder.id}: ${said}`,
  );
  check(
    holder.fence === undefined || holder.fence === held.fence,
    `it should have given fence ${held.fence}: ${said}`,
  );
  check(refusal.message.includes(label), `its message should have named "${label}": ${said}`);
  const { since } = holder;
  check(
    since === undefined || since.getTime() === held.holder.since?.getTime(),
    `it should have given the time of the grant, ${held.holder.since?.toISOString()}: ${said}`,
  );
}

export const namedRefusalCases: readonly LawCase[] = [
  {
    law: law.namedRefusal,
    name: "a refusal names the replica that holds the graph, and after a hand-over the next one",
    async run(context) {
      const [a, b, c] = await context.replicas("replica-a", "replica-b", "replica-c");
      check(a && b && c, "three replicas");
      for (const holder of [a, b, a]) {
        const held = await holder.take(context.graph);
        await checkNames(await c.refused(context.graph), held, holder.label, c);
        await held.release();
      }
    },
  },
  {
    law: law.namedRefusal,
    name: "the losers of a race are told of the winner or of nobody, never of an earlier holder",
    async run(context) {
      const racers = await context.replicas("a", "b", "c");
      for (let round = 0; round < context.options.rounds; round += 1) {
        const { winner, losers } = await raceOnce(context, racers, context.graph);
        for (const { refusal } of losers)
          check(
            refusal?.holder?.fence === undefined || refusal.holder.fence === winner.fence,
            `a loser was told of another than the winner, whose fence is ${winner.fence}: ${inWords(refusal)}`,
          );
      }
    },
  },
  {
    law: law.namedRefusal,
    name: "two names that share a crc32 are never mistaken for each other",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take("plumless");
      const { answer, held: other } = await b.ask("buckeroo");
      if (other) await other.release();
      else
        check(
          answer.kind === "refused" &&
            answer.refusal.keySharedWith === "plumless" &&
            answer.refusal.message.includes("plumless"),
          `"buckeroo" was refused without the word that its key is shared with "plumless": ${inWords(answer)}`,
        );
      await held.release();
      await (await b.take("buckeroo")).release();
    },
  },
  {
    law: law.namedRefusal,
    name: "inspect shows the holder while the graph is held, and that it is free afterwards",
    async run(context) {
      const [a, b] = await context.replicas("replica-a", "replica-b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      const during = await b.inspect(context.graph);
      const [status] = "statuses" in during ? during.statuses : [];
      check(
        status?.state === "held" && status.graph === context.graph,
        `inspect should have shown "${context.graph}" as held: ${inWords(during)}`,
      );
      check(
        status.holder === undefined || status.holder.id === held.holder.id,
        `inspect names another holder than ${held.holder.id}: ${inWords(during)}`,
      );
      await held.release();
      const after = await b.inspect(context.graph);
      check(
        "statuses" in after && after.statuses.every(({ state }) => state === "free"),
        `inspect should have shown "${context.graph}" as free: ${inWords(after)}`,
      );
      const fences = "statuses" in after ? after.statuses.map(({ fence }) => fence) : [];
      check(
        fences.every((fence) => fence === undefined || fence === held.fence),
        `inspect should have shown the highest fence, ${held.fence}: ${inWords(after)}`,
      );
    },
  },
];
