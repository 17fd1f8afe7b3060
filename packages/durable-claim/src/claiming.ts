import { BackendError } from "@sole-writer/core";
import type { Statement } from "@sole-writer/postgres";
import type { Connection } from "./connection.js";
import type { Doubts } from "./doubts.js";
import type { ClaimHome } from "./home.js";
import type { ProcessLease } from "./lease.js";
import { sharedSignal } from "./shared-signal.js";
import { type Claimed, type ClaimedRow, gatherClaims } from "./sql/claimed.js";
import type { Sweeper } from "./sweeper.js";
import type { TermRegister } from "./term-register.js";

/** What takes and claims share. */
export interface Claiming {
  readonly home: ClaimHome;
  readonly connection: Connection;
  readonly lease: ProcessLease;
  readonly doubts: Doubts;
  readonly register: TermRegister;
  readonly sweeper: Sweeper;
  /** Life in ms that must be left of the lease for a claim. */
  readonly leastLifeMs: number;
}

/** One caller of a statement that may serve several. */
export interface Caller {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  sending(): void;
}

/** What a statement that claims answers: its claims, and facts that tell whether the lease was good. */
type Row<Facts> =
  | ClaimedRow
  | { readonly kind: "fact"; readonly n: number; readonly body: Facts & HasLease };

interface HasLease {
  readonly hasLease: boolean;
}

/** The answer, put together. */
export interface ClaimingAnswer<Facts> {
  readonly leaseId: string;
  readonly claims: readonly Claimed[];
  /** By n, as the statement numbers them. */
  readonly facts: ReadonlyMap<number, Facts>;
}

/** As often as a lease is renewed for one statement before that is a fault. */
const mostLeases = 4;
const doubtsMs = 1_000;

/**
 * Sends a statement that claims, under a lease that is good for it. When it is not answered, what it may
 * have claimed is given back; when its connection had died unseen, it is sent once more.
 * @throws {BackendError}
 */
export async function runClaiming<Facts>(
  { home, connection, lease, doubts, leastLifeMs }: Claiming,
  statement: Statement,
  valuesAfter: readonly unknown[],
  callers: readonly Caller[],
  what: string,
): Promise<ClaimingAnswer<Facts>> {
  const limitMs = Math.max(...callers.map(({ timeoutMs }) => timeoutMs));
  const { signal, release } = sharedSignal(callers.map((caller) => caller.signal));
  const limits = { limitMs, signal, what };
  const { app, holder } = home;
  try {
    let isSecond = false;
    for (let leases = 0; leases < mostLeases; ) {
      await doubts.settled(Math.min(doubtsMs, limitMs));
      const leaseId = await lease.usable(limits);
      for (const caller of callers) caller.sending();
      const answer = await connection.tryRun<Row<Facts>>(
        statement,
        [app, leaseId, leastLifeMs, holder.id, holder.label, ...valuesAfter],
        limits,
      );
      if (answer.kind === "failed") throw answer.error;
      if (answer.kind === "unanswered") {
        doubts.add(leaseId, answer.session);
        if (!answer.wasIdle || isSecond || signal.aborted) throw answer.error;
        isSecond = true;
        continue;
      }
      const claims: ClaimedRow[] = [];
      const facts = new Map<number, Facts & HasLease>();
      for (const row of answer.rows)
        if (row.kind === "fact") facts.set(row.n, row.body);
        else claims.push(row);
      const [first] = facts.values();
      if (first?.hasLease) return { leaseId, claims: gatherClaims(claims), facts };
      leases += 1;
      lease.distrust(leaseId);
    }
    throw new BackendError(
      "BACKEND_TIMEOUT",
      `${what}: the lease of this process ends faster than it can be renewed. Look whether the event loop stands still or the network is slow, or raise leaseMs.`,
    );
  } finally {
    release();
  }
}
