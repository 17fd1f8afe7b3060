import type { Connection, SessionTrace } from "./connection.js";
import type { ClaimHome } from "./home.js";
import type { ProcessLease } from "./lease.js";
import { endSession, giveBackUnknown } from "./sql/sweep.js";
import type { TermRegister } from "./term-register.js";

/** A claim was sent and never answered: what it may have taken must not stand in anybody's way. */
export interface Doubts {
  /**
   * Lets nothing more be claimed by the lease, ends the session that may still be at work, and gives back
   * what was claimed and never told. If that cannot be done, the lease ends by itself.
   */
  add(leaseId: string, session: SessionTrace): void;
  /** Resolves when every doubt is cleared up or given up, or `atMostMs` have passed. */
  settled(atMostMs: number): Promise<void>;
}

const tries = 5;
const limitMs = 2_000;
const firstPauseMs = 100;

export function doubts(
  home: ClaimHome,
  connection: Connection,
  lease: ProcessLease,
  register: TermRegister,
): Doubts {
  const open = new Set<Promise<void>>();

  async function clear(leaseId: string, session: SessionTrace): Promise<void> {
    const limits = { limitMs, what: home.what("give back what was claimed without an answer") };
    for (let count = 0; count < tries; count += 1) {
      const { backendPid, applicationName } = session;
      const ended = await connection.tryRun(endSession, [backendPid, applicationName], limits);
      if (ended.kind === "rows") {
        const known = register.fencesOf(leaseId);
        const given = await connection.tryRun(giveBackUnknown, [home.app, leaseId, known], limits);
        if (given.kind === "rows") return;
      }
      await new Promise<void>((resolve) => {
        setTimeout(resolve, firstPauseMs * 2 ** count * (0.5 + Math.random())).unref();
      });
    }
  }

  return {
    add(leaseId, session) {
      lease.retire(leaseId);
      const cleared: Promise<void> = clear(leaseId, session).finally(() => open.delete(cleared));
      open.add(cleared);
    },
    async settled(atMostMs) {
      if (open.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, atMostMs);
      });
      await Promise.race([Promise.all(open), enough]);
      clearTimeout(timer);
    },
  };
}
