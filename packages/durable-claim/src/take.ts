import type { TakeAnswer, TakeRequest } from "@sole-writer/core";
import { batcher } from "./batcher.js";
import { type Claiming, runClaiming } from "./claiming.js";
import { type LaneHolder, makeLanes, type TakeFacts, takeLanes } from "./sql/take.js";
import { type ClaimTerm, termOf } from "./term.js";

interface Taken {
  readonly term: ClaimTerm | undefined;
  readonly facts: TakeFacts;
}

const mostInBatch = 500;
/** How often a lane is asked for again that was neither held nor to be had: somebody was at it. */
const mostLooks = 8;
const firstPauseMs = 1;

/** `acquire` where a graph has one writer: its lane, and the next unit that is due, if there is one. */
export function takeLane(claiming: Claiming) {
  const { home, connection, register, sweeper } = claiming;

  const takes = batcher<TakeRequest, Taken>(mostInBatch, async (requests) => {
    const [first] = requests;
    const what = home.what("ask for", requests.length === 1 ? first?.graph : undefined);
    const { claims, facts, leaseId } = await runClaiming<TakeFacts>(
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
    const terms = new Map(claims.map((claim) => [claim.n, termOf(claim, leaseId)]));
    return requests.map((_, index) => ({
      term: terms.get(index + 1),
      facts: facts.get(index + 1) ?? nothingKnown,
    }));
  });

  async function take(request: TakeRequest): Promise<TakeAnswer<ClaimTerm>> {
    const { graph, signal, timeoutMs } = request;
    const limits = { limitMs: timeoutMs, what: home.what("ask for", graph) };
    for (let looks = 0; looks < mostLooks; ) {
      const { term, facts } = await takes.ask(request);
      if (term) {
        register.add(term);
        return { taken: true, term };
      }
      if (facts.hasRun) return { taken: false, reason: "already-ran" };
      if (facts.heldBy && !facts.heldBy.isOver)
        return { taken: false, reason: "held", holder: holderOf(facts.heldBy) };
      if (signal.aborted) throw signal.reason;
      looks += 1;
      if (!facts.isKnown) await connection.run(makeLanes, [home.app, [graph]], limits);
      else if (facts.heldBy) await sweeper.sweep(limits);
      else await pause(firstPauseMs * 2 ** looks * Math.random());
    }
    // Somebody is at it all the time, so somebody has it; who, changes faster than it can be told.
    return { taken: false, reason: "held" };
  }

  return { take, rested: takes.rested };
}

const nothingKnown: TakeFacts = { hasLease: true, isKnown: true, hasRun: false, heldBy: null };

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
