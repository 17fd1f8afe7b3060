import type { ReplicaProcess } from "../stage/replica-process.js";
import type { Stage } from "../stage/stage.js";
import { type Scene, shownMs } from "./scene.js";
import { tellTick } from "./tell.js";

/** How often the others ask: the price of not waiting in a queue. */
const askAgainMs = 25;
const graph = "restock_plan";

export const killedHolder: Scene = {
  name: "killed-holder",
  title: "SIGKILL hits the holder in the middle of a run: another replica takes over",
  async play(stage) {
    const [holder, ...others] = await stage.threeReplicas();
    const window = stage.nextWindow();
    const gate = stage.outside.hold("suppliers", holder.label);
    try {
      const doomed = tellTick(stage, holder, graph, window);
      await stage.within(
        Promise.race([gate.reachedBy(holder.label), doomed]),
        `${holder.label} to be in the middle of its run`,
      );
      const refused = others.map((replica) => refusal(stage, replica));
      const asking = others.map(async (replica) => ({
        replica,
        answer: await tellTick(stage, replica, graph, window, askAgainMs),
      }));
      await stage.within(
        Promise.race([Promise.all(refused), Promise.all(asking)]),
        "the others to be refused",
      );
      const names = others.map(({ label }) => label).join(" and ");
      stage.say("director", "plain", `${names} ask every ${askAgainMs} ms and are refused`);
      const isHolder = (await others[0].inspect(graph)) === `held by ${holder.label}`;
      const killedNs = stage.kill(holder);
      await holder.ended;
      await endBodiesOf(stage, holder, killedNs);

      const answers = await stage.within(Promise.all(asking), "another replica to run");
      const [successor] = answers.filter(({ answer }) => answer.status === "ran");
      const killedMs = stage.clock.sinceStartMs(killedNs);
      const tookMs = successor && grantedAfter(stage, successor.replica, killedMs);
      const ranLabels = answers.flatMap(({ replica, answer }) =>
        answer.status === "ran" ? [replica.label] : [],
      );
      const boundMs = others[0].ready.processKilledMs + askAgainMs;
      return {
        kind: "played",
        ...(tookMs !== undefined && { measuredMs: { killToNextGrant: tookMs } }),
        checks: [
          {
            promised: "until the kill, the others are refused",
            seen: isHolder ? `held by ${holder.label} to the end` : "it was not held",
            kept: isHolder,
          },
          {
            promised: `within ${boundMs} ms another replica is granted`,
            seen: tookMs === undefined ? "nobody was, after the kill" : `after ${shownMs(tookMs)}`,
            kept: tookMs !== undefined && tookMs <= boundMs,
          },
          {
            promised: "exactly 1 of the 2 runs, behind the nodes that the dead one had finished",
            seen: `${ranLabels.join(" and ") || "nobody"} (${successor?.answer.status === "ran" ? successor.answer.how : "no run"})`,
            kept:
              ranLabels.length === 1 &&
              successor?.answer.status === "ran" &&
              successor.answer.how === "resumed",
          },
        ],
      };
    } finally {
      gate.open();
    }
  },
};

/** Resolves when `replica` is refused the graph for the first time from now on. */
async function refusal(stage: Stage, replica: ReplicaProcess): Promise<void> {
  await stage.happenings.next(
    (happening) =>
      happening.kind === "coordinator" &&
      happening.replica === replica.label &&
      happening.graph === graph &&
      happening.event.type === "refused",
  );
}

/** A killed process cannot note when its node ended, so the time of the kill is noted for it. */
async function endBodiesOf(stage: Stage, { pid }: ReplicaProcess, atNs: bigint): Promise<void> {
  await stage.database.pool.query(
    "UPDATE stage.body SET ended_ns = $2 WHERE pid = $1 AND ended_ns IS NULL",
    [pid, String(atNs)],
  );
}

function grantedAfter(
  stage: Stage,
  { label }: ReplicaProcess,
  killedMs: number,
): number | undefined {
  const granted = stage.happenings.all.find(
    (happening) =>
      happening.kind === "coordinator" &&
      happening.replica === label &&
      happening.event.type === "granted" &&
      happening.atMs >= killedMs,
  );
  return granted && granted.atMs - killedMs;
}
