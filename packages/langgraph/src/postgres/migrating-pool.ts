import type { Pool } from "pg";
import { replaced } from "./replaced.js";

const guardOff = "select pg_catalog.set_config('sole_writer.guard', 'off', true)";

/**
 * A migration may rewrite rows of every thread, which the guard would refuse. The setting goes with the
 * statement and ends with it: one of the session would stay with whoever gets that session next from a
 * pooler.
 */
export function migratingPool(pool: Pool): Pool {
  const connect = async () => {
    const client = await pool.connect();
    const query = (text: unknown, ...rest: unknown[]): unknown => {
      const rewrites =
        typeof text === "string" &&
        rest.length === 0 &&
        /^\s*(update|delete|with|do)\b/i.test(text);
      const sql = rewrites ? `${guardOff}; ${text}` : text;
      return Reflect.apply(client.query, client, [sql, ...rest]);
    };
    return replaced(client, "query", query);
  };
  return replaced(pool, "connect", connect);
}
