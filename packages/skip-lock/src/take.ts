import {
  BackendError,
  isBackendError,
  type TakeAnswer,
  type TakeRequest,
  type WindowIdentity,
} from "@sole-writer/core";
import { postgresFault } from "@sole-writer/postgres";
import { type KnownHolder, readHolder } from "./describe-holder.js";
import { forGraph } from "./for-graph.js";
import type { LockKey } from "./key.js";
import type { LockSession, LockSessions } from "./lock-sessions.js";
import { endOrphan } from "./sql/end-orphan.js";
import { type TakeRow, takeStatements } from "./sql/take.js";
import { type UnlockRow, unlockStatements } from "./sql/unlock.js";
import { whoHoldsValues } from "./sql/who-holds.js";
import { type WhoHoldsRow, whoHoldsNow } from "./sql/who-holds-now.js";
import type { LockHome, LockTerm } from "./term.js";

/** How often the server is asked again who holds a lock whose holder's row cannot be seen yet. */
const mostLooks = 3;
/** How many sessions that were given up are ended for one try. There is one, unless many were given up. */
const mostOrphans = 3;

type Answer = TakeAnswer<LockTerm>;
/** One try: an answer, or something that was in the way and is not any more. */
type Attempt = Answer | "ask-again";

/** The `take` of skip-lock: one statement, and more only where that one cannot know who holds the lock. */
export function takeLock(home: LockHome, sessions: LockSessions) {
  return async function take(request: TakeRequest): Promise<Answer> {
    const key = home.keyOf(request.graph);
    for (let orphans = 0; ; ) {
      const lockSession = await borrow(request);
      try {
        const answer = await attempt(lockSession, key, request);
        if (answer !== "ask-again") return answer;
        orphans += 1;
      } catch (error) {
        // A connection that died unseen while nobody used it says nothing about the server.
        const isStale =
          lockSession.isReused && isBackendError(error) && error.code === "BACKEND_LOST";
        if (!isStale || request.signal.aborted) throw error;
      }
      if (orphans > mostOrphans)
        throw new BackendError(
          "BACKEND_TIMEOUT",
          `${home.what("ask for", request.graph)}: a session that this replica gave up still holds the lock. It ends by itself when the server notices; ask again.`,
        );
    }
  };

  async function borrow({ graph, signal }: TakeRequest): Promise<LockSession> {
    try {
      return await sessions.borrow(signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : forGraph(error, home.what("ask for", graph));
    }
  }

  async function attempt(
    lockSession: LockSession,
    key: LockKey,
    request: TakeRequest,
  ): Promise<Attempt> {
    const { graph } = request;
    const own = lockSession.keys.get(key.text);
    if (own) return heldByUs(own.graph, graph);
    lockSession.keys.set(key.text, { graph, state: "trying" });
    const unlock = async () => {
      const statement = unlockStatements[key.form];
      const [row] = await lockSession.session.run<UnlockRow>(statement, key.lockArguments);
      return row?.unlocked === true;
    };
    let keeps = false;
    try {
      request.sending();
      const row = await ask(lockSession, key, request);
      if (!row.own_session)
        throw new BackendError(
          "BACKEND_POOLED",
          `${home.what("ask for", graph)}: another session answered than the one that was opened. A pooler is in the way; connect to PostgreSQL directly.`,
        );
      if (row.locked && row.fence !== null && row.since_ms !== null) {
        keeps = true;
        lockSession.keys.set(key.text, { graph, state: "held" });
        return { taken: true, term: termOf(lockSession, key, request, row.fence, row.since_ms) };
      }
      if (row.locked && !(await unlock()))
        throw new Error("the lock that was just taken is not held by the session that took it");
      const answer =
        row.has_run || row.locked ? alreadyRan : await refusal(lockSession, key, request, row);
      sessions.putBack(lockSession);
      return answer;
    } catch (error) {
      // Behind a pooler an unlock could hit the lock of somebody else.
      if (isBackendError(error) && error.code === "BACKEND_POOLED") lockSession.session.destroy();
      else sessions.discard(lockSession, unlock);
      throw request.signal.aborted
        ? request.signal.reason
        : postgresFault(error, home.what("ask for", graph));
    } finally {
      if (!keeps) lockSession.keys.delete(key.text);
    }
  }

  async function ask(lockSession: LockSession, key: LockKey, request: TakeRequest) {
    const { graph, window, minIntervalMs, signal } = request;
    const values = [
      ...whoHoldsValues(home.app, graph, key),
      ...windowValues(window),
      minIntervalMs ?? null,
      home.holder.id,
      home.holder.label,
      lockSession.sessionId,
      lockSession.session.backendPid,
      ...key.lockArguments,
    ];
    const statement = takeStatements[key.form];
    const [row] = await sessions.run<TakeRow>(lockSession, statement, values, signal);
    if (!row) throw new Error("the server answered without a row");
    return row;
  }

  function termOf(
    lockSession: LockSession,
    key: LockKey,
    { graph, ended }: TakeRequest,
    fence: string,
    sinceMs: number,
  ): LockTerm {
    const unwatch = lockSession.session.onEnd((cause) =>
      ended(postgresFault(cause, `The session that held "${graph}" ended`)),
    );
    return { graph, fence: BigInt(fence), since: new Date(sinceMs), key, lockSession, unwatch };
  }

  async function refusal(
    lockSession: LockSession,
    key: LockKey,
    request: TakeRequest,
    row: TakeRow,
  ): Promise<Attempt> {
    const { graph, signal } = request;
    let found = row.held_by;
    let known = readHolder(found);
    for (let looks = 0; looks < mostLooks && known?.kind !== "replica"; looks += 1) {
      if (known?.kind === "stranger") break;
      const [again] = await sessions.run<WhoHoldsRow>(
        lockSession,
        whoHoldsNow,
        whoHoldsValues(home.app, graph, key),
        signal,
      );
      found = again?.held_by ?? null;
      known = readHolder(found);
      // Gone between the try and the question: who it was cannot be known any more.
      if (!known) break;
    }
    if (known && found && isOrphan(known)) {
      await sessions.run(lockSession, endOrphan, [found.pid, found.application], signal);
      return "ask-again";
    }
    return {
      taken: false,
      reason: "held",
      ...(known && { holder: known.holder }),
      ...sharedKey(known, graph),
    };
  }

  /** A session of ours that we closed, and whose end the server has not seen yet. */
  function isOrphan(known: KnownHolder): boolean {
    return (
      known.kind !== "stranger" &&
      known.holder.id === home.holder.id &&
      !sessions.isLive(known.sessionId)
    );
  }

  function sharedKey(known: KnownHolder | undefined, graph: string) {
    if (known?.kind !== "replica") return {};
    const isThis = known.graph === graph && known.app === home.app;
    return isThis ? {} : { keySharedWith: known.graph };
  }

  /** The shared session of this process has the key: PostgreSQL would grant it a second time. */
  function heldByUs(held: string, graph: string): Answer {
    const refused = { taken: false, reason: "held", holder: home.holder } as const;
    return held === graph ? refused : { ...refused, keySharedWith: held };
  }
}

const alreadyRan = { taken: false, reason: "already-ran" } as const;

/** A window as the statements take it: its identity and its time, or nulls. */
export function windowValues(
  window: WindowIdentity | undefined,
): readonly [string | null, string | null] {
  return [window?.id ?? null, window?.at?.toISOString() ?? null];
}
