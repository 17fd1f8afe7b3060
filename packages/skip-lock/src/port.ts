import type { GraphStatus, Guarantees, Renewal, TermLife, TermPort } from "@sole-writer/core";
import { postgresFault } from "@sole-writer/postgres";
import type { LockSessions } from "./lock-sessions.js";
import { prove } from "./prove.js";
import { readGraphs } from "./read.js";
import { schemaKeeper } from "./schema-keeper.js";
import { settle as settleStatement } from "./sql/settle.js";
import { type UnlockRow, unlockStatements } from "./sql/unlock.js";
import { takeLock, windowValues } from "./take.js";
import type { LockHome, LockTerm } from "./term.js";

/**
 * The client's own probe: every 2 s, an answer within 2 s, and the grant is lost 5 s after the last good
 * probe was sent. The server lets go of a silent client after 10.2 s at the earliest (measured with a cut
 * link, and the settings of a session), so a holder always knows before a rival can be granted.
 */
const life: TermLife = {
  kind: "session",
  ttlMs: 5_500,
  safetyMarginMs: 500,
  renewEveryMs: 2_000,
  renewTimeoutMs: 2_000,
};

const guarantees: Guarantees = {
  survivesCrash: false,
  backlog: false,
  frozenHolder: "keeps-grant",
  // A killed process: at once when its session was idle, within client_connection_check_interval (1 s)
  // when a statement was running. A vanished host: the keepalives of the server, measured at 10.2 s.
  handover: { processKilledMs: 1_500, hostVanishedMs: 12_000 },
  lossToldWithinMs: life.ttlMs - life.safetyMarginMs,
  scope: "backend",
};

export interface PortOptions {
  readonly url: string;
  readonly schema: string;
  readonly migrate: boolean;
}

/** The strategy as core drives it. */
export function lockPort(
  home: LockHome,
  sessions: LockSessions,
  options: PortOptions,
): TermPort<LockTerm> {
  const schema = schemaKeeper(home, sessions, options);
  const take = takeLock(home, sessions);

  async function unlock({ key, lockSession }: LockTerm, signal: AbortSignal): Promise<boolean> {
    const [row] = await sessions.run<UnlockRow>(
      lockSession,
      unlockStatements[key.form],
      key.lockArguments,
      signal,
    );
    return row?.unlocked === true;
  }

  function forget(term: LockTerm): void {
    term.unwatch();
    term.lockSession.keys.delete(term.key.text);
  }

  async function alive({ graph, lockSession }: LockTerm, signal: AbortSignal): Promise<Renewal> {
    try {
      await lockSession.session.probe(signal);
      return { state: "held" };
    } catch (error) {
      const cause = signal.aborted
        ? signal.reason
        : postgresFault(error, home.what("reach the session of", graph));
      return { state: lockSession.session.isOpen ? "unknown" : "gone", cause };
    }
  }

  return {
    strategy: "skip-lock",
    backend: "postgres",
    guarantees,
    life,
    take: (request) => schema.with(request.graph, request.signal, () => take(request)),
    async renew(terms, signal) {
      const bySession = new Map<string, Promise<Renewal>>();
      return Promise.all(
        terms.map((term) => {
          const { sessionId } = term.lockSession;
          const asked = bySession.get(sessionId) ?? alive(term, signal);
          bySession.set(sessionId, asked);
          return asked;
        }),
      );
    },
    async settle(term, ending, window, signal) {
      const { graph, fence, lockSession } = term;
      const values = [home.app, graph, fence, lockSession.sessionId, ending.kind === "done"];
      try {
        const rows = await sessions.run(
          lockSession,
          settleStatement,
          [...values, ...windowValues(window)],
          signal,
        );
        if (rows.length === 0 || !(await unlock(term, signal))) return "gone";
      } catch (error) {
        throw signal.aborted ? signal.reason : postgresFault(error, home.what("release", graph));
      }
      forget(term);
      sessions.finish(lockSession);
      return "settled";
    },
    abandon(term) {
      const { lockSession } = term;
      sessions.discard(lockSession, () => unlock(term, new AbortController().signal));
      forget(term);
    },
    read: (graph, signal): Promise<readonly GraphStatus[]> =>
      schema.with(graph, signal, () => readGraphs(home, sessions, graph, signal)),
    prove: () => prove(options, home),
    close: () => sessions.close(),
  };
}
