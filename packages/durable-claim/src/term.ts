import type { Term } from "@sole-writer/core";
import type { ClaimedRow } from "./sql/claimed.js";

/** A grant as durable-claim knows it: a lane, a unit or both, under a lease. */
export interface ClaimTerm extends Term {
  readonly leaseId: string;
  readonly hasLane: boolean;
}

/** Reads a claim; `row` must be one that was taken. */
export function termOf(
  row: Exclude<ClaimedRow, { fence: null }>,
  leaseId: string,
  hasLane: boolean,
): ClaimTerm {
  const facts = {
    graph: row.graph,
    fence: BigInt(row.fence),
    since: new Date(row.since_ms),
    leaseId,
    hasLane,
  };
  if (row.unit_id === null) return facts;
  return {
    ...facts,
    unit: {
      id: row.unit_id,
      payload: row.payload,
      attempt: row.attempt,
      maxAttempts: row.max_attempts,
      ...(row.unit_key !== null && { key: row.unit_key }),
      ...(row.resumed && { resumed: row.resumed }),
    },
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
