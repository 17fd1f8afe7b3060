import { BackendError, type Holder, isBackendError } from "@sole-writer/core";
import {
  ensureSchema,
  openSession,
  type PostgresSession,
  postgresFault,
  type Statement,
  sessionName,
  stateOf,
} from "@sole-writer/postgres";

/**
 * What the server's planner may not do on our sessions. The statements are written for index scans in
 * nested loops. A plan made while the tables were empty would read them whole when they have grown, and a
 * plan is made anew only when the table was analysed.
 */
const settings = {
  text: `
    select pg_catalog.set_config(wanted.name, wanted.value, false)
    from (values
      ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'),
      ('enable_mergejoin', 'off'), ('jit', 'off'), ('plan_cache_mode', 'force_generic_plan')
    ) as wanted (name, value)`,
};

/** A session as another session can find it. */
export interface SessionTrace {
  readonly backendPid: number;
  readonly applicationName: string;
}

/** How a statement ended. */
export type RunAnswer<Row> =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  /** Not sent, or refused by the server: nothing was changed. */
  | { readonly kind: "failed"; readonly error: BackendError }
  /** Sent, and the answer did not come: it may have been carried out, or may still be. */
  | {
      readonly kind: "unanswered";
      readonly error: BackendError;
      readonly session: SessionTrace;
      /** The session had worked before, so it may have died while nobody looked. */
      readonly wasIdle: boolean;
    };

export interface RunLimits {
  readonly limitMs: number;
  /** Nobody waits any more. */
  readonly signal?: AbortSignal;
  /** The beginning of the message when it fails. */
  readonly what: string;
}

/**
 * One connection to PostgreSQL, opened when it is first needed and again when it was lost. Statements go
 * one after the other.
 */
export interface Connection {
  tryRun<Row>(
    statement: Statement,
    values: readonly unknown[],
    limits: RunLimits,
  ): Promise<RunAnswer<Row>>;
  /**
   * For statements that may be carried out twice: one that found its connection dead is sent again.
   * @throws {BackendError}
   */
  run<Row>(
    statement: Statement,
    values: readonly unknown[],
    limits: RunLimits,
  ): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly schema: string;
  readonly migrate: boolean;
  readonly holder: Pick<Holder, "id" | "label">;
}

/** Opens connections of one coordinator. */
export function connectionOpener({ url, schema, migrate, holder }: ConnectionOptions) {
  let count = 0;
  let schemaIsThere = false;
  /**
   * When a statement was last given up without an answer. A network that swallows one connection in silence
   * has swallowed its neighbours too, so none that was opened before is used again unless it has answered
   * since.
   */
  let silentAt = Number.NEGATIVE_INFINITY;
  /** As often as a statement that the server ended for the sake of another one is sent again. */
  const mostRepeats = 3;

  interface Opened extends SessionTrace {
    readonly session: PostgresSession;
  }

  async function open(signal: AbortSignal): Promise<Opened> {
    count += 1;
    const { applicationName } = sessionName(holder, count);
    const session = await openSession({ url, schema, applicationName, signal });
    try {
      await session.run(settings, [], signal);
      if (!schemaIsThere) await ensureSchema(session, { create: migrate, signal });
      schemaIsThere = true;
    } catch (error) {
      session.destroy();
      throw error;
    }
    return { session, backendPid: session.backendPid, applicationName };
  }

  return function openConnection(): Connection {
    let current: Opened | undefined;
    let last: Promise<unknown> = Promise.resolve();
    let isClosed = false;
    let answeredAt = Number.NEGATIVE_INFINITY;

    async function attempt<Row>(
      statement: Statement,
      values: readonly unknown[],
      what: string,
      signal: AbortSignal,
    ): Promise<RunAnswer<Row>> {
      if (answeredAt < silentAt) current?.session.destroy();
      const wasIdle = current?.session.isOpen === true;
      let opened: Opened;
      try {
        if (isClosed)
          throw new BackendError(
            "BACKEND_LOST",
            `${what}: its connection was closed. Open another.`,
          );
        signal.throwIfAborted();
        opened = current?.session.isOpen ? current : await open(signal);
        if (current !== opened) answeredAt = performance.now();
        current = opened;
      } catch (error) {
        return { kind: "failed", error: faultOf(error, what, signal) };
      }
      const { session } = opened;
      for (let repeats = 0; ; repeats += 1) {
        try {
          const rows = await session.run<Row>(statement, values, signal);
          answeredAt = performance.now();
          return { kind: "rows", rows };
        } catch (error) {
          const state = stateOf(error);
          const isAnswer = session.isOpen && !signal.aborted;
          if (isAnswer && repeats < mostRepeats) {
            if (state === "40P01" || state === "40001") continue;
            if (isSchemaMissing(state)) {
              try {
                await ensureSchema(session, { create: migrate, signal });
                continue;
              } catch (cause) {
                return { kind: "failed", error: faultOf(cause, what, signal) };
              }
            }
          }
          const fault = faultOf(error, what, signal);
          // What the server says of itself as it ends a session is no answer to the statement.
          if (isAnswer && fault.code !== "BACKEND_LOST") return { kind: "failed", error: fault };
          if (signal.aborted) silentAt = performance.now();
          session.destroy();
          const { backendPid, applicationName } = opened;
          return {
            kind: "unanswered",
            error: fault,
            session: { backendPid, applicationName },
            wasIdle,
          };
        }
      }
    }

    async function tryRun<Row>(
      statement: Statement,
      values: readonly unknown[],
      { limitMs, signal, what }: RunLimits,
    ): Promise<RunAnswer<Row>> {
      const limit = new AbortController();
      const giveUp = () => limit.abort(new Error(`no answer within ${limitMs} ms`));
      const timer = setTimeout(giveUp, limitMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      if (signal?.aborted) giveUp();
      const mine = last.then(() => attempt<Row>(statement, values, what, limit.signal));
      last = mine;
      try {
        return await mine;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      }
    }

    return {
      tryRun,
      async run<Row>(statement: Statement, values: readonly unknown[], limits: RunLimits) {
        const first = await tryRun<Row>(statement, values, limits);
        const again =
          first.kind === "unanswered" && first.wasIdle && limits.signal?.aborted !== true
            ? await tryRun<Row>(statement, values, limits)
            : first;
        if (again.kind !== "rows") throw again.error;
        return again.rows;
      },
      async close() {
        isClosed = true;
        await last;
        await current?.session.end();
      },
    };
  };
}

function isSchemaMissing(state: string | undefined): boolean {
  return state === "3F000" || state === "42P01";
}

function faultOf(error: unknown, what: string, signal: AbortSignal): BackendError {
  if (signal.aborted)
    return new BackendError(
      "BACKEND_TIMEOUT",
      `${what}: ${signal.reason instanceof Error ? signal.reason.message : "given up"}. Look whether PostgreSQL is overloaded, or the network silent.`,
      { cause: signal.reason },
    );
  // What keeps a session from being opened knows nothing of the graph that needed it.
  if (isBackendError(error))
    return error.message.startsWith(what)
      ? error
      : new BackendError(error.code, `${what}. ${error.message}`, { cause: error });
  return postgresFault(error, what);
}
