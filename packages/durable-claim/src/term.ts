import type { Term, Unit } from "@sole-writer/core";
import type { Claimed, ClaimedUnit } from "./sql/claimed.js";

/** A grant as durable-claim knows it: a lane, a unit or both, under a lease. */
export interface ClaimTerm extends Term {
  readonly leaseId: string;
  readonly hasLane: boolean;
}

/** Reads a claim of a lane, a unit, or both; undefined when it is neither. */
export function termOf({ lane, unit }: Claimed, leaseId: string): ClaimTerm | undefined {
  const of = lane ?? unit;
  if (!of) return undefined;
  return {
    graph: of.graph,
    fence: BigInt(of.fence),
    since: new Date(of.sinceMs),
    leaseId,
    hasLane: lane !== undefined,
    ...(unit && { unit: unitOf(unit) }),
  };
}

function unitOf({ id, payload, attempt, maxAttempts, key, resumed }: ClaimedUnit): Unit {
  return {
    id,
    payload,
    attempt,
    maxAttempts,
    ...(key !== null && { key }),
    ...(resumed && { resumed }),
  };
}

/** Claims as the statements take them: one array for each column. */
export function claimValues(terms: readonly ClaimTerm[]) {
  return {
    graphs: terms.map((term) => term.graph),
    fences: terms.map((term) => String(term.fence)),
    leases: terms.map((term) => term.leaseId),
    units: terms.map((term) => term.unit?.id ?? null),
    lanes: terms.map((term) => term.hasLane),
  };
}
