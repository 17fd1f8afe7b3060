import { check } from "../check.js";
import { law } from "../laws.js";
import type { LawCase } from "./law-case.js";
import { raceOnce } from "./race.js";

export const exclusionCases: readonly LawCase[] = [
  {
    law: law.exclusion,
    name: "of two replicas at a barrier one runs and the other is skipped",
    async run(context) {
      const racers = await context.replicas("a", "b");
      for (let round = 0; round < context.options.rounds; round += 1)
        await raceOnce(context, racers, context.graph);
    },
  },
  {
    law: law.exclusion,
    name: "of two replicas at a barrier one runs, also on a graph that nobody ever ran",
    async run(context) {
      const racers = await context.replicas("a", "b");
      for (let round = 0; round < context.options.rounds; round += 1)
        await raceOnce(context, racers, `new-${round}`);
    },
  },
  {
    law: law.exclusion,
    name: "of many replicas at a barrier one runs and all others are skipped",
    async run(context) {
      const labels = Array.from({ length: context.options.replicas }, (_, index) => `r${index}`);
      const racers = await context.replicas(...labels);
      for (let round = 0; round < context.options.rounds; round += 1)
        await raceOnce(context, racers, context.graph);
    },
  },
  {
    law: law.exclusion,
    name: "in a storm of ticks on three graphs, some of which fail, no two works overlap",
    async run(context) {
      const replicas = await context.replicas("a", "b", "c");
      const graphs = ["restock_plan", "fulfil_order", "price_feed"];
      const storms = await Promise.all(
        replicas.map((replica) => replica.storm(graphs, context.options.stormMs)),
      );
      const odd = storms.flatMap((storm) => storm.odd);
      check(odd.length === 0, `the storm saw: ${odd.join("; ")}`);
      const ran = new Set(context.runs().map(({ graph }) => graph));
      const silent = graphs.filter((graph) => !ran.has(graph));
      check(silent.length === 0, `these graphs never ran in the storm: ${silent.join(", ")}`);
    },
  },
];

export const noWaitingCases: readonly LawCase[] = [
  {
    law: law.noWaiting,
    name: "a replica that comes second is answered while the first one runs, and does not run later",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const first = a.tick(context.graph, { hold: "until-told" });
      await first.began();
      // Nobody tells the first to finish before the second is answered, however long that takes.
      const second = b.tick(context.graph, { hold: 0 });
      await second.ends("skipped");
      await first.finish();
      await first.ends("ran");
      const runs = context.runs().length;
      check(runs === 1, `the work should have run once, but ran ${runs} times`);
    },
  },
  {
    law: law.noWaiting,
    name: "every answer to many questions about a graph that is held comes at once",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      for (let count = 0; count < 50; count += 1) await b.refused(context.graph);
      await held.release();
      await (await b.take(context.graph)).release();
    },
  },
];
