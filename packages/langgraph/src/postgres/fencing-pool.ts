import type { Grant } from "@sole-writer/core";
import type { Pool, PoolClient } from "pg";
import { replaced } from "./replaced.js";

/**
 * How long the server lets a transaction of ours idle between two statements of one write. A holder that
 * is stopped there keeps the thread's row locked, and its successor waits for it.
 */
export const idleInTransactionMs = 5_000;

/**
 * The pool as a saver sees it: `BEGIN` carries the fence of the grant at hand, in the same message, so it
 * costs no round trip; and it holds for that transaction alone, so it is right behind a transaction pooler
 * as well.
 */
export function fencingPool(pool: Pool, grantAtHand: () => Grant | undefined): Pool {
  const connect = async () => lentClient(await pool.connect(), grantAtHand);
  return replaced(pool, "connect", connect);
}

function lentClient(client: PoolClient, grantAtHand: () => Grant | undefined): PoolClient {
  let isBroken = false;
  // A session that the server ends between two statements would take the process with it.
  const ended = () => {
    isBroken = true;
  };
  client.on("error", ended);

  async function query(text: unknown, ...rest: unknown[]): Promise<unknown> {
    const run = (sql: unknown) => Reflect.apply(client.query, client, [sql, ...rest]);
    if (typeof text !== "string") return await run(text);
    if (/^\s*begin\b/i.test(text)) return await run(withFence(text, grantAtHand()));
    if (!/^\s*rollback\s*;?\s*$/i.test(text)) return await run(text);
    try {
      return await run(text);
    } catch {
      // The saver is about to throw what made it roll back, which says more than this.
      isBroken = true;
      return undefined;
    }
  }

  function release(error?: Error | boolean): void {
    client.off("error", ended);
    client.release(error ?? isBroken);
  }

  return replaced(replaced(client, "query", query), "release", release);
}

function withFence(begin: string, grant: Grant | undefined): string {
  if (!grant) return begin;
  return `${begin.replace(/;\s*$/, "")}; SET LOCAL sole_writer.fence = '${grant.fence}'; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
}
