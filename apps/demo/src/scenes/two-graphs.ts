import type { Scene } from "./scene.js";
import { tellTick } from "./tell.js";

/** Both graphs are held in the middle of a run, at the same time: neither can have waited for the other. */
export const twoGraphs: Scene = {
  name: "two-graphs",
  title: "two graphs run at the same time: one never blocks the other",
  async play(stage) {
    const [planner, auditor, third] = await stage.threeReplicas();
    const window = stage.nextWindow();
    const { outside } = stage;
    const feed = outside.hold("suppliers");
    const scale = outside.hold("scale");
    try {
      const plan = tellTick(stage, planner, "restock_plan", window);
      const audit = tellTick(stage, auditor, "pack_audit", window);
      const arrived = await stage.within(
        Promise.all([
          Promise.race([feed.reachedBy(planner.label).then(() => true), plan.then(() => false)]),
          Promise.race([scale.reachedBy(auditor.label).then(() => true), audit.then(() => false)]),
        ]),
        "both graphs to be in the middle of a run",
      );
      stage.say("director", "plain", "both graphs are in the middle of a run");
      const tries = [
        { gate: feed, tick: tellTick(stage, third, "restock_plan", window) },
        { gate: scale, tick: tellTick(stage, third, "pack_audit", window) },
      ];
      // Answered, or let in: that must not keep the scene waiting.
      const answered = tries.map(({ gate, tick }) =>
        Promise.race([tick, gate.reachedBy(third.label)]),
      );
      await stage.within(Promise.all(answered), `${third.label} to be answered`);
      feed.open();
      scale.open();
      const refused = await Promise.all(tries.map(({ tick }) => tick));
      const ended = await stage.within(Promise.all([plan, audit]), "both runs to end");
      const named = refused.map((answer) =>
        answer.status === "skipped" ? (answer.holder ?? "nobody") : answer.status,
      );
      return {
        kind: "played",
        checks: [
          {
            promised: "restock_plan and pack_audit are in the middle of a run at the same time",
            seen: arrived.every(Boolean) ? "both were" : "one was not",
            kept: arrived.every(Boolean),
          },
          {
            promised: `a third replica is refused both, by ${planner.label} and ${auditor.label}`,
            seen: `refused by ${named.join(" and ")}`,
            kept: named[0] === planner.label && named[1] === auditor.label,
          },
          {
            promised: "both end well",
            seen: ended.map(({ status }) => status).join(" and "),
            kept: ended.every(({ status }) => status === "ran"),
          },
        ],
      };
    } finally {
      feed.open();
      scale.open();
    }
  },
};
