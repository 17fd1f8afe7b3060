import type { LockSession, LockSessions, SessionOpener } from "./lock-sessions.js";

/** As many losers' sessions are kept for the next try; the rest are closed. */
const mostSpares = 4;
/** A spare that nobody wanted for so long is closed. */
const spareLifeMs = 30_000;

interface Spare {
  readonly lockSession: LockSession;
  readonly expiry: NodeJS.Timeout;
}

/**
 * One session for each grant. A session that won is closed afterwards, and takes with it whatever was left
 * on it. A session that lost holds nothing, so it serves the next try: a loser then costs one round trip,
 * not a connection.
 */
export function dedicatedSessions(opener: SessionOpener): LockSessions {
  const spares: Spare[] = [];

  function takeSpare(): LockSession | undefined {
    for (let spare = spares.pop(); spare; spare = spares.pop()) {
      clearTimeout(spare.expiry);
      if (spare.lockSession.session.isOpen) return { ...spare.lockSession, isReused: true };
    }
    return undefined;
  }

  function expire(sessionId: string): void {
    const index = spares.findIndex(({ lockSession }) => lockSession.sessionId === sessionId);
    const [expired] = index < 0 ? [] : spares.splice(index, 1);
    if (expired) opener.end(expired.lockSession);
  }

  const borrow = async (signal: AbortSignal) => takeSpare() ?? opener.open(signal);

  function putBack(lockSession: LockSession): void {
    if (!lockSession.session.isOpen) return;
    if (spares.length >= mostSpares) {
      opener.end(lockSession);
      return;
    }
    const expiry = setTimeout(() => expire(lockSession.sessionId), spareLifeMs);
    spares.push({ lockSession, expiry: expiry.unref() });
  }

  return {
    borrow,
    putBack,
    borrowAlone: borrow,
    putBackAlone: putBack,
    discard: ({ session }) => session.destroy(),
    finish: opener.end,
    run: ({ session }, statement, values, signal) => session.run(statement, values, signal),
    isLive: opener.isLive,
    async close() {
      for (const { expiry } of spares.splice(0)) clearTimeout(expiry);
      await opener.close();
    },
  };
}
