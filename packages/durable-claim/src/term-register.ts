import type { ClaimTerm } from "./term.js";

/** The claims that this process knows of. */
export interface TermRegister {
  add(term: ClaimTerm): void;
  remove(term: ClaimTerm): void;
  /** Fences of the claims by a lease. */
  fencesOf(leaseId: string): readonly string[];
}

export function termRegister(): TermRegister {
  const terms = new Set<ClaimTerm>();
  return {
    add: (term) => void terms.add(term),
    remove: (term) => void terms.delete(term),
    fencesOf: (leaseId) =>
      [...terms].filter((term) => term.leaseId === leaseId).map(({ fence }) => String(fence)),
  };
}
