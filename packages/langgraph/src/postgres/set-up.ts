import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { BackendError } from "@sole-writer/core";
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
 * transaction pooler, and the saver's migrations may contain what no transaction may. It is tried and not
 * waited for: behind a pooler whoever waits keeps a session from the one that it waits for.
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
    await lock(keeper, schema);
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

const patienceMs = 60_000;
const pauseMs = 50;

async function lock(keeper: pg.Client, schema: string): Promise<void> {
  const key = `pg_catalog.hashtextextended(${literal(`sole_writer set-up of ${schema}`)}, 0)`;
  const since = performance.now();
  for (;;) {
    await keeper.query("begin");
    const { rows } = await keeper.query<{ is_ours: boolean }>(
      `select pg_catalog.pg_try_advisory_xact_lock(${key}) as is_ours`,
    );
    if (rows[0]?.is_ours) return;
    await keeper.query("rollback");
    if (performance.now() - since > patienceMs)
      throw new BackendError(
        "BACKEND_TIMEOUT",
        `Could not set up the saver in schema "${schema}": another replica has been at it for ${patienceMs} ms. Look what its session waits for in pg_stat_activity, and try again.`,
      );
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (1 + Math.random())));
  }
}
