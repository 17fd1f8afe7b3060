import type { Happening } from "../stage/happening.js";
import type { ReplicaProcess } from "../stage/replica-process.js";
import type { Stage } from "../stage/stage.js";
import { count, type Scene, shownMs } from "./scene.js";
import { tellTick } from "./tell.js";

/** The server says good-bye when it ends a session, so a holder need not wait for its own probe. */
const toldWithinMs = 1_000;
const graph = "restock_plan";

export const cutSession: Scene = {
  name: "cut-session",
  title: "pg_terminate_backend ends the lock session: the run is told, stops, and another runs",
  async play(stage) {
    const [holder, other] = await stage.threeReplicas();
    const window = stage.nextWindow();
    const gate = stage.outside.hold("suppliers", holder.label);
    try {
      const run = tellTick(stage, holder, graph, window);
      await stage.within(
        Promise.race([gate.reachedBy(holder.label), run]),
        `${holder.label} to be in the middle of its run`,
      );
      const cutNs = process.hrtime.bigint();
      await cutLockSession(stage, holder);
      const answer = await stage.within(run, "the run to stop");
      const cutMs = stage.clock.sinceStartMs(cutNs);
      const losses = stage.happenings.all.filter((one) => isLoss(one, holder, cutMs));
      const [loss] = losses;
      const toldMs = loss && loss.atMs - cutMs;
      gate.open();

      const next = await stage.within(tellTick(stage, other, graph, window), "another to run");
      const stored = answer.status === "lost" ? await ordersOf(stage, answer.fence) : 0;
      const state = await holder.inspect(graph);
      const again = await stage.within(
        tellTick(stage, holder, graph, stage.nextWindow()),
        `${holder.label} to tick again`,
      );
      return {
        kind: "played",
        ...(toldMs !== undefined && { measuredMs: { cutToAbort: toldMs } }),
        checks: [
          {
            promised: `the signal aborts within ${toldWithinMs} ms, once, and says why`,
            seen:
              toldMs === undefined || answer.status !== "lost"
                ? `not told: ${answer.status}`
                : `after ${shownMs(toldMs)}, ${count(losses.length, "time")}: ${answer.reason}`,
            kept:
              toldMs !== undefined &&
              toldMs <= toldWithinMs &&
              losses.length === 1 &&
              answer.status === "lost" &&
              answer.reason === "session-ended",
          },
          {
            promised: "the run stops and stores nothing more",
            seen: `${answer.status}, ${count(stored, "purchase order")} stored`,
            kept: answer.status === "lost" && stored === 0,
          },
          {
            promised: "another replica runs the window",
            seen: next.status === "ran" ? `${other.label} (${next.how})` : next.status,
            kept: next.status === "ran",
          },
          {
            promised: "the process that lost it lives, and runs the next window",
            seen: `${holder.isAlive ? "alive" : "dead"}, graph ${state}, then ${again.status}`,
            kept: holder.isAlive && again.status === "ran",
          },
        ],
      };
    } finally {
      gate.open();
    }
  },
};

async function cutLockSession(stage: Stage, holder: ReplicaProcess): Promise<void> {
  const nothing = `${holder.label} has no lock session that could be ended: it holds nothing`;
  const { rows } = await stage.database.pool
    .query<{ backend_pid: number; cut: boolean }>(
      `SELECT backend_pid, pg_terminate_backend(backend_pid) AS cut
       FROM sole_writer.graph WHERE graph = $1 AND holder_label = $2`,
      [graph, holder.label],
    )
    .catch((cause: unknown) => {
      throw new Error(nothing, { cause });
    });
  const [session] = rows;
  if (!session?.cut) throw new Error(nothing);
  stage.say("director", "bad", `ended session ${session.backend_pid}, which held ${graph}`);
}

function isLoss(happening: Happening, { label }: ReplicaProcess, sinceMs: number): boolean {
  return (
    happening.kind === "coordinator" &&
    happening.replica === label &&
    happening.event.type === "lost" &&
    happening.atMs >= sinceMs
  );
}

async function ordersOf(stage: Stage, fence: string): Promise<number> {
  const { rows } = await stage.database.pool.query<{ orders: number }>(
    "SELECT count(*)::int AS orders FROM warehouse.purchase_order WHERE fence = $1",
    [fence],
  );
  return rows[0]?.orders ?? 0;
}
