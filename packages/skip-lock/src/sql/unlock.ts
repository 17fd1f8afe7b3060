import type { Statement } from "@sole-writer/postgres";
import type { KeyForm } from "../key.js";

/**
 * Releases the lock. The answer is false, with a mere warning in the server's log, when this session does
 * not hold it. $1 (and $2) the arguments of the lock
 */
export const unlockStatements: Readonly<Record<KeyForm, Statement>> = {
  pair: { text: "select pg_catalog.pg_advisory_unlock($1::int, $2::int) as unlocked" },
  single: { text: "select pg_catalog.pg_advisory_unlock($1::bigint) as unlocked" },
};

/** The answer to `unlockStatements`. */
export interface UnlockRow {
  readonly unlocked: boolean;
}
