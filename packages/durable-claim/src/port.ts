import {
  type ClaimPort,
  type Guarantees,
  InvalidOptionError,
  type TakeAnswer,
  type TakeRequest,
  type TermLife,
} from "@sole-writer/core";
import { claimDue } from "./claim.js";
import type { Claiming } from "./claiming.js";
import { connectionOpener } from "./connection.js";
import { doubts as openDoubts } from "./doubts.js";
import { endings as openEndings } from "./endings.js";
import type { ClaimHome } from "./home.js";
import { processLease } from "./lease.js";
import type { CheckedOptions } from "./options.js";
import { prove } from "./prove.js";
import { readGraphs } from "./read.js";
import { sweeper as openSweeper } from "./sweeper.js";
import { takeLane } from "./take.js";
import type { ClaimTerm } from "./term.js";
import { termRegister } from "./term-register.js";

const closeMs = 1_000;
/** After the lease is over: the turn of whoever looks next. */
const sweepMs = 500;

/** What the port needs of the rest of the coordinator. */
export interface PortHooks {
  /** True from when the coordinator begins to close. */
  isClosing(): boolean;
  /** A unit was given back, and somebody else can have it. */
  handedBack(): void;
  /** Resolves when nothing else is under way on the connections. */
  rested(): Promise<void>;
}

/**
 * The strategy as core drives it. Three connections: claims and sweeps; endings and what people ask;
 * renewals, which nothing else may hold up.
 */
export function claimPort(home: ClaimHome, options: CheckedOptions, hooks: PortHooks) {
  const { leaseMs, heartbeatMs } = options;
  // A claim is made when the lease has at least nine tenths of its life left, so that is what it gives.
  const freshMs = Math.floor(leaseMs / 10);
  const life: TermLife = {
    kind: "lease",
    ttlMs: leaseMs - freshMs,
    safetyMarginMs: freshMs,
    renewEveryMs: heartbeatMs,
    renewTimeoutMs: heartbeatMs,
  };
  const guarantees: Guarantees = {
    survivesCrash: true,
    backlog: true,
    frozenHolder: "is-replaced",
    handover: { processKilledMs: leaseMs + sweepMs, hostVanishedMs: leaseMs + sweepMs },
    lossToldWithinMs: life.ttlMs - life.safetyMarginMs,
    scope: "backend",
  };

  const openConnection = connectionOpener({ ...options, holder: home.holder });
  const [claims, ends, beats] = [openConnection(), openConnection(), openConnection()];
  const lease = processLease(home, beats, freshMs);
  const register = termRegister();
  const doubts = openDoubts(home, ends, lease, register);
  const sweeper = openSweeper(claims);
  const claiming: Claiming = {
    home,
    connection: claims,
    lease,
    doubts,
    register,
    sweeper,
    leastLifeMs: leaseMs - freshMs,
  };
  const lanes = takeLane(claiming);
  const due = claimDue(claiming);
  const endings = openEndings(home, ends, lease, register);

  /** `acquire` where units have a writer each: the next unit of that graph, or nothing. */
  async function takeUnit(request: TakeRequest): Promise<TakeAnswer<ClaimTerm>> {
    const { graph, window, minIntervalMs } = request;
    if (window !== undefined || minIntervalMs !== undefined)
      throw new InvalidOptionError(
        `acquire of "${graph}": window and minIntervalMs are about a graph with one writer, and with exclusive: "unit" it has many. Submit a unit with the window as its key.`,
      );
    const [term] = await due.claim({ ...request, graphs: [graph], except: [], limit: 1 });
    return term ? { taken: true, term } : { taken: false, reason: "nothing-due" };
  }

  const port: ClaimPort<ClaimTerm> = {
    strategy: "durable-claim",
    backend: "postgres",
    guarantees,
    life,
    exclusive: home.exclusive,
    take: home.exclusive === "graph" ? lanes.take : takeUnit,
    claim: due.claim,
    renew: (terms, signal) =>
      lease.renew(terms, { limitMs: heartbeatMs, signal, what: home.what("renew") }),
    async settle(term, ending, window, signal) {
      const answer = await endings.settle(term, ending, window, signal);
      if (answer === "settled" && term.unit && ending.kind === "handed-back") hooks.handedBack();
      return answer;
    },
    abandon(term) {
      // After a grace that ran out the work may still be running: it is the lease that ends then.
      if (hooks.isClosing()) register.remove(term);
      else endings.letGo(term);
    },
    read: (graph, signal) =>
      readGraphs(home, ends, graph, {
        limitMs: options.acquireTimeoutMs,
        signal,
        what: home.what("inspect", graph),
      }),
    prove: () => prove(options, home),
    async close() {
      await Promise.all([lanes.rested(), due.rested(), endings.rested(), hooks.rested()]);
      await doubts.settled(closeMs);
      await lease.close({ limitMs: closeMs, what: home.what("close the lease of") });
      await Promise.all([claims.close(), ends.close(), beats.close()]);
    },
  };
  return { port, claims, ends };
}
