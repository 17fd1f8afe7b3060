import type { TickAnswer } from "../replica/protocol.js";
import type { ReplicaProcess } from "../stage/replica-process.js";
import type { Stage } from "../stage/stage.js";
import { type Check, count, type Scene, shownMs } from "./scene.js";
import { tellTick } from "./tell.js";

const rounds = 5;

/**
 * The winner is kept waiting by the supplier feed until the others have had their answer, so a loser
 * that waited for the winner would wait for ever, and one that came late would not be seen as a loser.
 */
export const contention: Scene = {
  name: "contention",
  title: "three replicas tick at once: one runs, the others are refused and told by whom",
  async play(stage) {
    const replicas = await stage.threeReplicas();
    const played: Round[] = [];
    for (let number = 1; number <= rounds; number += 1)
      played.push(await playRound(stage, replicas, number));
    const slowestRefusal = slowestRefusalMs(stage);
    return {
      kind: "played",
      measuredMs: { slowestRefusal },
      checks: [
        ...judge(played, replicas.length, slowestRefusal),
        await oneFencePerPlan(stage, played),
      ],
    };
  },
};

interface Round {
  readonly window: string;
  readonly answers: readonly { readonly label: string; readonly answer: TickAnswer }[];
}

async function playRound(
  stage: Stage,
  replicas: readonly ReplicaProcess[],
  number: number,
): Promise<Round> {
  const window = stage.nextWindow();
  stage.say("director", "plain", `round ${number}: all three tick for window ${window}`);
  const gate = stage.outside.hold("suppliers");
  try {
    const ticks = replicas.map(async (replica) => ({
      label: replica.label,
      answer: await tellTick(stage, replica, "restock_plan", window),
    }));
    const inOrOut = replicas.map((replica, index) =>
      Promise.race([gate.reachedBy(replica.label), ticks[index]]),
    );
    await stage.within(Promise.all(inOrOut), "each replica to be running or refused");
    gate.open();
    return { window, answers: await stage.within(Promise.all(ticks), "the winner to finish") };
  } finally {
    gate.open();
  }
}

function judge(played: readonly Round[], replicas: number, slowestMs: number): Check[] {
  const winnersOf = ({ answers }: Round) => answers.filter(({ answer }) => answer.status === "ran");
  const ran = played.map((round) => winnersOf(round).length);
  const refusals = played.flatMap((round) => {
    const [winner] = winnersOf(round);
    return round.answers.flatMap(({ answer }) =>
      answer.status === "skipped" ? [{ holder: answer.holder, winner: winner?.label }] : [],
    );
  });
  const right = refusals.filter(({ holder, winner }) => holder !== undefined && holder === winner);
  const expected = rounds * (replicas - 1);
  return [
    {
      promised: `exactly 1 of ${replicas} replicas runs, in each of ${rounds} rounds`,
      seen: `${ran.join(", ")} ran`,
      kept: ran.every((number) => number === 1),
    },
    {
      promised: "the others are refused while it still runs, by the name of the holder",
      seen: `${right.length} of ${expected} named it, the slowest after ${shownMs(slowestMs)}`,
      kept: right.length === expected && refusals.length === expected,
    },
  ];
}

function slowestRefusalMs(stage: Stage): number {
  const tookMs = stage.happenings.all.flatMap((one) =>
    one.kind === "coordinator" && one.event.type === "refused" ? [one.event.tookMs] : [],
  );
  return Math.max(0, ...tookMs);
}

async function oneFencePerPlan(stage: Stage, played: readonly Round[]): Promise<Check> {
  const { rows } = await stage.database.pool.query<{ plans: number; runs: number }>(
    `SELECT count(DISTINCT planned_for)::int AS plans,
       (SELECT count(DISTINCT fence)::int FROM stage.body
        WHERE graph = 'restock_plan' AND node = 'write_orders' AND fence >= min(o.fence)) AS runs
     FROM warehouse.purchase_order o WHERE planned_for = ANY ($1)`,
    [played.map(({ window }) => window)],
  );
  const { plans = 0, runs = 0 } = rows[0] ?? {};
  return {
    promised: "each window's plan is written by one run",
    seen: `${count(plans, "plan")}, written by ${count(runs, "run")}`,
    kept: plans === rounds && runs === rounds,
  };
}
