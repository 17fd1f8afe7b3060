/**
 * A dedicated session: one connection to PostgreSQL that no pool ever hands to anybody else.
 *
 * A session-level advisory lock lives exactly as long as its session, so a session must be private, must
 * be seen to end, and must be endable at any moment. The socket is therefore our own, given to `pg`:
 * destroying it ends the session whatever `pg` is waiting for, and a statement that was given up is never
 * left running on a session that somebody goes on to use.
 */
import { Socket } from "node:net";
import { BackendError } from "@sole-writer/core";
import { Client } from "pg";
import { addressOf } from "./connection-url.js";
import { postgresFault, SessionEnded } from "./faults.js";
import { defaultSchema, inSchema } from "./schema/schema-name.js";
import { type EnteredSession, enterSession } from "./sql/enter-session.js";
import type { Statement } from "./sql/statement.js";

export interface SessionOptions {
  readonly url: string;
  /** Where the tables are. Default `sole_writer`. */
  readonly schema?: string;
  /** Shown in `pg_stat_activity`, at most 63 bytes of ASCII. */
  readonly applicationName: string;
  /** Gives up the connection; what was opened is closed. */
  readonly signal: AbortSignal;
}

/** One private connection to the primary. */
export interface PostgresSession {
  /** The server's process for this session. */
  readonly backendPid: number;
  readonly isOpen: boolean;
  /** Where the tables are: statements that name `sole_writer` are about this one. */
  readonly schema: string;
  /**
   * Runs one statement, after those that were asked for before it.
   * When `signal` aborts, the session is destroyed: the server may have run the statement, or may run it
   * still, and its effects on the session end with it.
   * @throws whatever `pg` throws, or the signal's reason
   */
  run<Row>(
    statement: Statement,
    values: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]>;
  /**
   * Sends a request of its own, and resolves when the server has answered it. When `signal` aborts,
   * only the waiting ends; the next probe is sent after the answer to this one.
   */
  probe(signal: AbortSignal): Promise<void>;
  /** Calls back once when the session ends, with the first reason that was seen; at once if it has. */
  onEnd(listener: (cause: unknown) => void): () => void;
  /** Calls back whenever a channel that this session listens to is notified. */
  onNotification(listener: () => void): () => void;
  /** Says good-bye to the server and waits for the end, for a second at most. Never rejects. */
  end(): Promise<void>;
  /** Ends it now. */
  destroy(): void;
}

const oldestVersion = 140_000;
const goodByeMs = 1_000;
/** Longer than the server's own (`tcp_keepalives_idle`) would be useless; shorter costs nothing. */
const keepAliveInitialDelayMs = 5_000;

/**
 * Opens a private session to a primary, and sets it up so that the server notices a vanished client.
 * @throws {BackendError} `BACKEND_POOLED` behind a pooler, `BACKEND_STANDBY` on a standby, or what kept
 * the connection from being made
 */
export async function openSession(options: SessionOptions): Promise<PostgresSession> {
  const { url, applicationName, schema = defaultSchema, signal } = options;
  const what = `Could not open a session to PostgreSQL at ${addressOf(url).shown}`;
  signal.throwIfAborted();
  const socket = new Socket();
  const client: AnnouncedClient = new Client({
    connectionString: url,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveInitialDelayMs,
    stream: () => socket,
  });
  const session = sessionOver(client, socket, schema);
  const giveUp = () => session.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await client.connect();
    const announced = session.backendPid;
    const [entered] = await session.run<EnteredSession>(enterSession, [announced, applicationName]);
    if (!entered) throw new SessionEnded("the first statement was not answered");
    assertFit(entered, announced, what);
    return session;
  } catch (cause) {
    session.destroy();
    throw signal.aborted ? signal.reason : postgresFault(cause, what);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function assertFit(entered: EnteredSession, announced: number, what: string): void {
  if (entered.backend_pid !== announced)
    throw new BackendError(
      "BACKEND_POOLED",
      `${what}: a pooler is in the way (process ${announced} was announced, ${entered.backend_pid} answered). A lock taken through it would belong to whoever gets that session next. Connect to PostgreSQL directly, past the pooler.`,
    );
  if (entered.in_recovery)
    throw new BackendError(
      "BACKEND_STANDBY",
      `${what}: this server is a standby, whose locks exclude nobody. Connect to the primary.`,
    );
  if (entered.version < oldestVersion)
    throw new BackendError(
      "BACKEND_FAULT",
      `${what}: PostgreSQL ${Math.floor(entered.version / 10_000)} does not notice a vanished client while a statement runs. Use PostgreSQL 14 or newer.`,
    );
}

/** The types of `pg` leave out the process id that the server announces at connect. */
type AnnouncedClient = Client & { readonly processID?: number | null };

function sessionOver(client: AnnouncedClient, socket: Socket, schema: string): PostgresSession {
  const listeners = new Set<(cause: unknown) => void>();
  let ended: { readonly cause: unknown } | undefined;
  let firstError: unknown;
  /** `pg` wants one statement at a time. */
  let last: Promise<unknown> = Promise.resolve();

  // For good: an error on an idle connection would otherwise end the process.
  client.on("error", (error) => (firstError ??= error));
  client.once("end", () => {
    ended = { cause: firstError ?? new SessionEnded("the connection was closed") };
    for (const listener of [...listeners]) listener(ended.cause);
    listeners.clear();
  });

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  }

  const session: PostgresSession = {
    schema,
    get backendPid() {
      return client.processID ?? 0;
    },
    get isOpen() {
      return ended === undefined && !socket.destroyed;
    },
    async run<Row>(statement: Statement, values: readonly unknown[], signal?: AbortSignal) {
      signal?.throwIfAborted();
      const giveUp = () => session.destroy();
      signal?.addEventListener("abort", giveUp, { once: true });
      try {
        const { rows } = await inTurn(() =>
          client.query({
            ...statement,
            text: inSchema(statement.text, schema),
            values: [...values],
          }),
        );
        return rows as Row[];
      } catch (error) {
        throw signal?.aborted ? signal.reason : (firstError ?? ended?.cause ?? error);
      } finally {
        signal?.removeEventListener("abort", giveUp);
      }
    },
    async probe(signal) {
      signal.throwIfAborted();
      let stopWaiting = () => {};
      const givenUp = new Promise<never>((_, reject) => {
        stopWaiting = () => reject(signal.reason);
      });
      signal.addEventListener("abort", stopWaiting, { once: true });
      const answered = inTurn(async () => {
        // Given up while an earlier one was still unanswered: sending it would only make a queue.
        if (!signal.aborted) await client.query("select 1");
      });
      answered.catch(() => undefined);
      try {
        await Promise.race([answered, givenUp]);
        signal.throwIfAborted();
      } finally {
        signal.removeEventListener("abort", stopWaiting);
      }
    },
    onEnd(listener) {
      if (ended) listener(ended.cause);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onNotification(listener) {
      const told = () => listener();
      client.on("notification", told);
      return () => client.off("notification", told);
    },
    end() {
      return new Promise((resolve) => {
        const tooLong = setTimeout(() => session.destroy(), goodByeMs);
        session.onEnd(() => {
          clearTimeout(tooLong);
          resolve();
        });
        client.end().catch(() => undefined);
      });
    },
    destroy() {
      firstError ??= new SessionEnded("it was given up");
      socket.destroy();
    },
  };
  return session;
}
