import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "pg";
import { type Check, count } from "../scenes/scene.js";

/** A server process ends a moment after its client has said good-bye. */
const patienceMs = 3_000;
const lookEveryMs = 20;

/** Looks for sessions on the demo's database that are not the director's own; waits a little for them to end. */
export async function checkLeftovers(pool: Pool): Promise<Check> {
  const until = performance.now() + patienceMs;
  let left = await foreignSessions(pool);
  while (left > 0 && performance.now() < until) {
    await pause(lookEveryMs);
    left = await foreignSessions(pool);
  }
  return {
    promised: "when the replicas have ended, no session and no lock of theirs is left",
    seen: `${count(left, "session")} left`,
    kept: left === 0,
  };
}

/** All connections of a pool come from one process, and so does `application_name`. */
async function foreignSessions(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ sessions: number }>(
    `SELECT count(*)::int AS sessions FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend'
       AND application_name <> current_setting('application_name')`,
  );
  return rows[0]?.sessions ?? 0;
}
