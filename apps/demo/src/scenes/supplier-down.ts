import type { Scene } from "./scene.js";
import { tellTick } from "./tell.js";

/** A node that throws is the commonest ending that is none: the graph must be free straight after. */
export const supplierDown: Scene = {
  name: "supplier-down",
  title:
    "a node throws because the supplier feed is down: the lock is released, the next tick runs",
  async play(stage) {
    const [first, second] = await stage.threeReplicas();
    const window = stage.nextWindow();
    const { outside } = stage;
    stage.say("director", "plain", "the supplier feed goes down");
    outside.shut("suppliers");
    try {
      const failed = await stage.within(
        tellTick(stage, first, "restock_plan", window),
        "the failing tick to end",
      );
      const state = await second.inspect("restock_plan");
      stage.say(second.label, "plain", `restock_plan is ${state}`);
      stage.say("director", "plain", "the supplier feed is back");
      outside.reopen("suppliers");
      const next = await stage.within(
        tellTick(stage, second, "restock_plan", window),
        "the next tick to end",
      );
      return {
        kind: "played",
        checks: [
          {
            promised: "the node's own error is the outcome",
            seen: failed.status === "failed" ? `failed: ${failed.message}` : failed.status,
            kept: failed.status === "failed" && failed.message.includes("does not answer"),
          },
          { promised: "the graph is free straight after", seen: state, kept: state === "free" },
          {
            promised: "the next tick, on another replica, goes on behind the finished nodes",
            seen: next.status === "ran" ? `${next.how} on ${second.label}` : next.status,
            kept: next.status === "ran" && next.how === "resumed",
          },
        ],
      };
    } finally {
      outside.reopen("suppliers");
    }
  },
};
