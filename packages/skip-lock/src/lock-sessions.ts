import type { Holder } from "@sole-writer/core";
import {
  openSession,
  type PostgresSession,
  type Statement,
  sessionName,
} from "@sole-writer/postgres";

/** A session that holds locks or is about to, and for which graphs. */
export interface LockSession {
  readonly session: PostgresSession;
  readonly sessionId: string;
  readonly applicationName: string;
  /**
   * Keys that this session holds or is trying, with their graphs. A session lock is re-entrant, so a key
   * in here must not be tried on this session again.
   */
  readonly keys: Map<string, KeyUse>;
  /** It has been used before, so that its connection may have died meanwhile. */
  readonly isReused: boolean;
}

/** What a session does with a key. */
export interface KeyUse {
  readonly graph: string;
  readonly state: "trying" | "held";
}

/** Where the sessions of a coordinator come from, and where they go. */
export interface LockSessions {
  /** A session for one try. */
  borrow(signal: AbortSignal): Promise<LockSession>;
  /** A session that nobody else uses, for several statements that belong together. */
  borrowAlone(signal: AbortSignal): Promise<LockSession>;
  /** Takes back what `borrowAlone` gave. */
  putBackAlone(session: LockSession): void;
  /** The try failed, and the session holds nothing of it. */
  putBack(session: LockSession): void;
  /** The try may have left a lock: nothing may remain of it. */
  discard(session: LockSession, releaseLock: () => Promise<unknown>): void;
  /** The lock of a grant was released. */
  finish(session: LockSession): void;
  /** Runs a statement; what becomes of the session when `signal` aborts is for the kind to say. */
  run<Row>(
    session: LockSession,
    statement: Statement,
    values: readonly unknown[],
    signal: AbortSignal,
  ): Promise<readonly Row[]>;
  /** Is this a session of this coordinator that is still open? */
  isLive(sessionId: string): boolean;
  /** Ends every session, and waits for the ends of those that were ended before. */
  close(): Promise<void>;
}

/** Opens the sessions of one coordinator and knows which of them are open. */
export interface SessionOpener {
  open(signal: AbortSignal): Promise<LockSession>;
  /** Ends a session without waiting; `close` waits for it. */
  end(session: LockSession): void;
  isLive(sessionId: string): boolean;
  close(): Promise<void>;
}

export function sessionOpener(
  { url, schema }: { readonly url: string; readonly schema: string },
  holder: Holder,
): SessionOpener {
  const live = new Map<string, LockSession>();
  const ending = new Set<Promise<void>>();
  let count = 0;

  function end(lockSession: LockSession): void {
    const ended = lockSession.session.end().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  return {
    async open(signal) {
      count += 1;
      const name = sessionName(holder, count);
      const session = await openSession({
        url,
        schema,
        applicationName: name.applicationName,
        signal,
      });
      const opened: LockSession = { ...name, session, keys: new Map(), isReused: false };
      live.set(name.sessionId, opened);
      session.onEnd(() => live.delete(name.sessionId));
      return opened;
    },
    end,
    isLive: (sessionId) => live.get(sessionId)?.session.isOpen === true,
    async close() {
      for (const session of live.values()) end(session);
      await Promise.all(ending);
    },
  };
}
