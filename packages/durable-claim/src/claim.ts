import type { ClaimRequest } from "@sole-writer/core";
import { batcher } from "./batcher.js";
import { type Claiming, runClaiming } from "./claiming.js";
import { type ClaimFacts, type ClaimKind, claimUnits } from "./sql/claim.js";
import { repairLanes } from "./sql/take.js";
import { type ClaimTerm, termOf } from "./term.js";

const mostInBatch = 500;
/** How often in ms a claim that found too little looks for graphs that have units and no lane. */
const repairEveryMs = 10_000;
/** How often in ms a claim sweeps: a row that somebody has locked would make every claim sweep for nothing. */
const sweepEveryMs = 200;

/** `claim`: whatever is due. Claims that meet and name no graphs travel as one. */
export function claimDue(claiming: Claiming) {
  const { home, connection, register, sweeper } = claiming;
  const hasLane = home.exclusive === "graph";
  let cursor = "";
  let repairedAt = performance.now();
  let sweptAt = Number.NEGATIVE_INFINITY;

  const claims = batcher<ClaimRequest, readonly ClaimTerm[]>(mostInBatch, async (requests) => {
    const answers = new Map<ClaimRequest, readonly ClaimTerm[]>();
    const every = requests.filter(({ graphs }) => graphs === undefined);
    if (every.length > 0) {
      const terms = [...(await claim(every, undefined))];
      // A little for everybody, rather than everything for the first.
      const share = Math.ceil(terms.length / every.length);
      const shares = every.map((request) => terms.splice(0, Math.min(request.limit, share)));
      every.forEach((request, index) => {
        const own = shares[index] ?? [];
        answers.set(request, [...own, ...terms.splice(0, request.limit - own.length)]);
      });
    }
    for (const request of requests)
      if (request.graphs) answers.set(request, await claim([request], request.graphs));
    return requests.map((request) => answers.get(request) ?? []);
  });

  async function claim(
    requests: readonly ClaimRequest[],
    graphs: readonly string[] | undefined,
  ): Promise<readonly ClaimTerm[]> {
    const limit = requests.reduce((sum, request) => sum + request.limit, 0);
    const first = await claimOnce(requests, graphs, limit);
    if (first.terms.length >= limit) return first.terms;
    const limits = { limitMs: timeoutOf(requests), what: home.what("claim") };
    let isWorthMore = false;
    if (first.hasOver && performance.now() - sweptAt > sweepEveryMs) {
      sweptAt = performance.now();
      isWorthMore = await sweeper.sweep(limits);
    }
    if (performance.now() - repairedAt > repairEveryMs) {
      repairedAt = performance.now();
      await connection.run(repairLanes, [home.app], limits);
    }
    if (!isWorthMore) return first.terms;
    const second = await claimOnce(requests, graphs, limit - first.terms.length);
    return [...first.terms, ...second.terms];
  }

  async function claimOnce(
    requests: readonly ClaimRequest[],
    graphs: readonly string[] | undefined,
    limit: number,
  ): Promise<{ readonly terms: readonly ClaimTerm[]; readonly hasOver: boolean }> {
    const except = [...new Set(requests.flatMap((request) => request.except))];
    const { claims, facts, leaseId } = await runClaiming<ClaimFacts>(
      claiming,
      claimUnits(kindOf(graphs)),
      [cursor, limit, except, graphs ?? null, home.parallel ?? null],
      requests,
      home.what("claim"),
    );
    const terms = claims
      .map((claim) => termOf(claim, leaseId))
      .filter((term) => term !== undefined);
    for (const term of terms) register.add(term);
    // They are in the order in which their graphs were tried.
    cursor = terms.at(-1)?.graph ?? cursor;
    return { terms, hasOver: facts.get(0)?.hasOver === true };
  }

  function kindOf(graphs: readonly string[] | undefined): ClaimKind {
    const unit = home.parallel === undefined ? "unit" : "unit-with-room";
    return {
      exclusive: hasLane ? "graph" : unit,
      graphs: graphs ? "named" : "every",
    };
  }

  return { claim: claims.ask, rested: claims.rested };
}

function timeoutOf(requests: readonly ClaimRequest[]): number {
  return Math.max(...requests.map(({ timeoutMs }) => timeoutMs));
}
