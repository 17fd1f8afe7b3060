import type { Statement } from "@sole-writer/postgres";
import { type LockHolder, whoHolds } from "./who-holds.js";

/**
 * Asks again who holds a key, with a new snapshot: for the moment in which the lock of a new holder can be
 * seen and its row cannot. It reads only. $1 to $6 as in `whoHolds`
 */
export const whoHoldsNow: Statement = {
  name: "sole-writer-who-holds",
  text: `select ${whoHolds} as held_by`,
};

/** The answer to `whoHoldsNow`. */
export interface WhoHoldsRow {
  readonly held_by: LockHolder | null;
}
