import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { postgresFault } from "@sole-writer/postgres";
import pg, { type Pool } from "pg";
import { checkpointGuardStatus, installCheckpointGuard } from "../guard/guard.js";
import type { GuardMode } from "../guard/guard-mode.js";
import { literal } from "../guard/sql/triggers.js";
import { migratingPool } from "./migrating-pool.js";

/**
 * The saver's own set-up, and the guard after it, one replica at a time: the saver's "create if not
 * exists" fails when two sessions run it at the same moment.
 *
 * The lock is held by a transaction on a connection of its own: a session lock would be lost behind a
 * transaction pooler, and the saver's migrations may contain what no transaction may.
 */
export async function setUp(
  pool: Pool,
  options: { readonly schema: string; readonly mode?: GuardMode },
): Promise<void> {
  const { schema, mode } = options;
  const keeper = new pg.Client(pool.options);
  keeper.on("error", () => undefined);
  try {
    await keeper.connect();
    await keeper.query("begin");
    await keeper.query(
      `select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(${literal(`sole_writer set-up of ${schema}`)}, 0))`,
    );
    await new PostgresSaver(migratingPool(pool), undefined, { schema }).setup();
    const found = await checkpointGuardStatus(pool, { schema });
    const known = found.state === "installed" ? found.mode : undefined;
    const wanted = mode ?? known;
    await installCheckpointGuard(pool, { schema, ...(wanted && { mode: wanted }) });
  } catch (cause) {
    throw postgresFault(cause, `Could not set up the saver in schema "${schema}"`);
  } finally {
    // Ends the transaction, and the lock with it.
    await keeper.end().catch(() => undefined);
  }
}
