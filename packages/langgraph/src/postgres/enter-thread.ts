import { BackendError, type Grant, GrantLostError, InvalidOptionError } from "@sole-writer/core";
import { postgresFault, stateOf } from "@sole-writer/postgres";
import type { Pool, PoolClient } from "pg";
import { StaleWriteError } from "../errors.js";
import { idleInTransactionMs } from "./fencing-pool.js";

/** Longer than a stopped writer may hold the thread, with time for the server to notice. */
const enterTimeoutMs = 2 * idleInTransactionMs;

/** SQLSTATEs of the guard; see sql/guard-functions.ts. */
const superseded = "SW001";
const notEntered = "SW003";
const noGuard = "SW004";

/** Raises the fence of a thread to the grant's, once for each grant and thread. */
export interface ThreadKeeper {
  /**
   * Comes back when every write of earlier holders has ended and later ones are refused.
   * @throws {GrantLostError} or {StaleWriteError} when a newer grant has entered the thread.
   * @throws {InvalidOptionError} for a thread that PostgreSQL cannot store.
   * @throws {BackendError} when PostgreSQL could not be asked, or an earlier write did not end.
   */
  enter(grant: Grant, threadId: string): Promise<void>;
}

export function threadKeeper(pool: Pool, schema: string): ThreadKeeper {
  const entered = new WeakMap<Grant, Map<string, Promise<void>>>();
  return {
    async enter(grant, threadId) {
      // It would end the message in the middle, as in every text that PostgreSQL cannot store.
      if (threadId.includes("\0"))
        throw new InvalidOptionError(
          `Thread ${JSON.stringify(threadId)} has a zero character, which PostgreSQL cannot store. Nothing was run.`,
        );
      const threads = entered.get(grant) ?? new Map<string, Promise<void>>();
      entered.set(grant, threads);
      const known = threads.get(threadId);
      if (known) return known;
      const entering = raise(pool, schema, grant, threadId);
      threads.set(threadId, entering);
      entering.catch(() => threads.delete(threadId));
      return entering;
    },
  };
}

/**
 * One message, and a commit that does not wait for the disk: a checkpoint that is stored later waits for
 * everything before it, and a server that lost this row in a crash refuses the write that relied on it.
 * https://www.postgresql.org/docs/current/wal-async-commit.html
 */
async function raise(pool: Pool, schema: string, grant: Grant, threadId: string): Promise<void> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    const literal = client.escapeLiteral;
    const args = [
      schema,
      threadId,
      `${grant.fence}`,
      grant.graph,
      grant.holder.label.replaceAll("\0", ""),
    ];
    await client.query(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = ${enterTimeoutMs}; SELECT sole_writer.enter_thread(${args.map((arg) => Reflect.apply(literal, client, [arg])).join(", ")}); COMMIT`,
    );
    client.release();
  } catch (cause) {
    client?.release(true);
    throw await enteringFault(cause, grant, threadId, schema);
  }
}

async function enteringFault(
  cause: unknown,
  grant: Grant,
  threadId: string,
  schema: string,
): Promise<unknown> {
  const what = `Could not enter thread "${threadId}" for "${grant.graph}"`;
  const state = stateOf(cause);
  if (state === superseded) return await refusal(cause, grant, threadId);
  if (state === "55P03")
    return new BackendError(
      "BACKEND_TIMEOUT",
      `${what}: a write of an earlier holder did not end within ${enterTimeoutMs} ms. Nothing was run. Look for an open transaction in pg_stat_activity, and end it.`,
      { cause },
    );
  if (state === noGuard || state === "42883" || state === "3F000" || state === "42P01")
    return new BackendError(
      "BACKEND_SCHEMA",
      `${what}: the checkpoint guard does not watch schema "${schema}". Nothing was run. Call setup() of the saver, or installCheckpointGuard, once.`,
      { cause },
    );
  return postgresFault(cause, what);
}

/** What the guard's refusal of a write means; `undefined` when it is none. */
export async function guardRefusal(
  cause: unknown,
  grant: Grant,
  threadId: string,
): Promise<unknown> {
  const state = stateOf(cause);
  if (state !== superseded && state !== notEntered) return undefined;
  return await refusal(cause, grant, threadId);
}

/** The coordinator is asked first: mostly the grant is lost, and its holder has only not heard of it. */
async function refusal(cause: unknown, grant: Grant, threadId: string): Promise<unknown> {
  try {
    await grant.confirmHeld();
  } catch (error) {
    if (error instanceof GrantLostError) return error;
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  const { graph, fence } = grant;
  return new StaleWriteError({ graph, threadId, fence, detail }, { cause });
}
