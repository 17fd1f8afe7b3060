import type { TakeAnswer, TakeRequest } from "@sole-writer/core";
import { batcher } from "./batcher.js";
import { type Claiming, runClaiming } from "./claiming.js";
import type { ClaimedRow } from "./sql/claimed.js";
import { type LaneHolder, makeLanes, takeLanes } from "./sql/take.js";
import { type ClaimTerm, termOf } from "./term.js";

type Row = ClaimedRow & {
  readonly has_lease: boolean;
  readonly is_known: boolean;
  readonly has_run: boolean;
  readonly held_by: LaneHolder | null;
};

const mostInBatch = 500;
/** How often a lane is asked for again that was neither held nor to be had: somebody was at it. */
const mostLooks = 8;
const firstPauseMs = 1;

/** `acquire` where a graph has one writer: its lane, and the next unit that is due, if there is one. */
export function takeLane(claiming: Claiming) {
  const { home, connection, register, sweeper } = claiming;

  const takes = batcher<TakeRequest, { readonly row: Row; readonly leaseId: string }>(
    mostInBatch,
    async (requests) => {
      const [first] = requests;
      const what = home.what("ask for", requests.length === 1 ? first?.graph : undefined);
      const { rows, leaseId } = await runClaiming<Row>(
        claiming,
        takeLanes,
        [
          requests.map(({ graph }) => graph),
          requests.map(({ window }) => window?.id ?? null),
          requests.map(({ window }) => window?.at?.toISOString() ?? null),
          requests.map(({ minIntervalMs }) => minIntervalMs ?? null),
          requests.map(wantsUnit),
        ],
        requests,
        what,
      );
      return rows.map((row) => ({ row, leaseId }));
    },
  );

  async function take(request: TakeRequest): Promise<TakeAnswer<ClaimTerm>> {
    const { graph, signal, timeoutMs } = request;
    const limits = { limitMs: timeoutMs, what: home.what("ask for", graph) };
    for (let looks = 0; looks < mostLooks; ) {
      const { row, leaseId } = await takes.ask(request);
      if (row.fence !== null) {
        const term = termOf(row, leaseId, true);
        register.add(term);
        return { taken: true, term };
      }
      if (row.has_run) return { taken: false, reason: "already-ran" };
      if (row.held_by && !row.held_by.isOver)
        return { taken: false, reason: "held", holder: holderOf(row.held_by) };
      if (signal.aborted) throw signal.reason;
      looks += 1;
      if (!row.is_known) await connection.run(makeLanes, [home.app, [graph]], limits);
      else if (row.held_by) await sweeper.sweep(limits);
      else await pause(firstPauseMs * 2 ** looks * Math.random());
    }
    // Somebody is at it all the time, so somebody has it; who, changes faster than it can be told.
    return { taken: false, reason: "held" };
  }

  return { take, rested: takes.rested };
}

/** A tick of a schedule is about its window, and takes no unit that waits for its turn. */
function wantsUnit({ window, minIntervalMs }: TakeRequest): boolean {
  return window === undefined && minIntervalMs === undefined;
}

function holderOf({ id, label, fence, sinceMs }: LaneHolder) {
  return { id, label, fence: BigInt(fence), since: new Date(sinceMs) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
