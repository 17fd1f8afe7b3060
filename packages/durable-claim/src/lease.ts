import { randomUUID } from "node:crypto";
import type { Renewal } from "@sole-writer/core";
import type { Connection, RunLimits } from "./connection.js";
import type { ClaimHome } from "./home.js";
import { closeLease, openLease, type RenewedRow, renewLeases } from "./sql/lease.js";
import { type ClaimTerm, claimValues } from "./term.js";

/**
 * As many claims are looked at one by one in each renewal. With more, they are looked at when their lease
 * says that something was taken from it.
 */
const mostLooks = 256;

/** The lease of this process: what its claims live by. */
export interface ProcessLease {
  /** The id of a lease with `leaseMs - freshMs` of its life left; opens or renews one first if need be. */
  usable(limits: RunLimits): Promise<string>;
  /** The server does not know it any more, or its life is shorter than was thought. */
  distrust(id: string): void;
  /** Nothing is claimed by it any more: it goes on for what it holds, and ends when that has ended. */
  retire(id: string): void;
  renew(terms: readonly ClaimTerm[], limits: RunLimits): Promise<readonly Renewal[]>;
  /** Ends it if nothing is held by it. Never rejects. */
  close(limits: RunLimits): Promise<void>;
}

export function processLease(
  home: ClaimHome,
  connection: Connection,
  freshMs: number,
): ProcessLease {
  let current: { readonly id: string; goodAt: number } | undefined;
  let making: Promise<string> | undefined;
  /** The number of revocations that was seen last, for each lease with terms. */
  let seen = new Map<string, number>();

  const isFresh = (goodAt: number) => performance.now() - goodAt < freshMs / 2;

  async function beat(
    leases: readonly string[],
    looks: readonly ClaimTerm[],
    limits: RunLimits,
  ): Promise<RenewedRow> {
    const sentAt = performance.now();
    const { leases: of, graphs, fences, units, lanes } = claimValues(looks);
    const [row] = await connection.run<RenewedRow>(
      renewLeases,
      [home.app, leases, home.leaseMs, of, graphs, fences, units, lanes],
      limits,
    );
    if (!row) throw new Error("the server answered without a row");
    if (current && leases.includes(current.id)) {
      if (row.alive.some(({ id }) => id === current?.id)) current.goodAt = sentAt;
      else current = undefined;
    }
    return row;
  }

  async function make(limits: RunLimits): Promise<string> {
    const { app, holder, leaseMs } = home;
    if (current) await beat([current.id], [], limits);
    if (current && isFresh(current.goodAt)) return current.id;
    const opened = { id: randomUUID(), goodAt: performance.now() };
    await connection.run(openLease, [app, opened.id, holder.id, holder.label, leaseMs], limits);
    current = opened;
    return opened.id;
  }

  return {
    usable(limits) {
      if (current && isFresh(current.goodAt)) return Promise.resolve(current.id);
      making ??= make(limits).finally(() => {
        making = undefined;
      });
      return making;
    },
    distrust(id) {
      if (current?.id === id) current.goodAt = Number.NEGATIVE_INFINITY;
    },
    retire(id) {
      if (current?.id === id) current = undefined;
    },
    async renew(terms, limits) {
      const leases = [...new Set([...terms.map(({ leaseId }) => leaseId)])];
      const first = await beat(leases, terms.length <= mostLooks ? terms : [], limits);
      const alive = new Map(first.alive.map(({ id, revocations }) => [id, revocations]));
      const isChanged = leases.some((id) => (alive.get(id) ?? 0) !== (seen.get(id) ?? 0));
      const looksAgain = terms.length > mostLooks && isChanged;
      const { gone } = looksAgain ? await beat(leases, terms, limits) : first;
      seen = alive;
      const isGone = new Set(gone);
      return terms.map((term, index): Renewal => {
        if (!alive.has(term.leaseId))
          return { state: "gone", cause: new Error("its lease is over at the server") };
        if (isGone.has(index + 1))
          return { state: "gone", cause: new Error("it was taken away at the server") };
        return { state: "held" };
      });
    },
    async close(limits) {
      if (!current) return;
      const { id } = current;
      current = undefined;
      await connection.tryRun(closeLease, [id], limits);
    },
  };
}
