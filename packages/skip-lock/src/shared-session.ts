import type { LockSession, LockSessions, SessionOpener } from "./lock-sessions.js";

/** A lock that was left on the shared session is released within this, or the session is ended. */
const releaseLimitMs = 1_000;

/**
 * One session for all grants of a coordinator, for a process with hundreds of graphs. Its end is the loss
 * of all of them, so it is not ended because one caller gave up, as long as others rely on it.
 *
 * @param openLimitMs longest time for opening it: it serves more callers than the one who asked first
 */
export function sharedSession(opener: SessionOpener, openLimitMs: number): LockSessions {
  let current: LockSession | undefined;
  let opening: Promise<LockSession> | undefined;
  const statements = new Set<AbortSignal>();

  async function open(): Promise<LockSession> {
    try {
      current = await opener.open(AbortSignal.timeout(openLimitMs));
      return current;
    } finally {
      opening = undefined;
    }
  }

  /** Nobody holds anything on it, and nobody waits for it. */
  function isUnused({ keys }: LockSession): boolean {
    const holds = [...keys.values()].some(({ state }) => state === "held");
    return !holds && [...statements].every((signal) => signal.aborted);
  }

  return {
    async borrow(signal) {
      if (current?.session.isOpen) return { ...current, isReused: true };
      opening ??= open();
      return orGivenUp(opening, signal);
    },
    putBack() {},
    borrowAlone: opener.open,
    putBackAlone: opener.end,
    discard({ session }, releaseLock) {
      const tooLong = setTimeout(() => session.destroy(), releaseLimitMs);
      releaseLock()
        .catch(() => session.destroy())
        .finally(() => clearTimeout(tooLong));
    },
    finish() {},
    async run(lockSession, statement, values, signal) {
      signal.throwIfAborted();
      statements.add(signal);
      const giveUp = () => {
        if (isUnused(lockSession)) lockSession.session.destroy();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        return await lockSession.session.run(statement, values);
      } finally {
        statements.delete(signal);
        signal.removeEventListener("abort", giveUp);
      }
    },
    isLive: opener.isLive,
    close: opener.close,
  };
}

function orGivenUp<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
