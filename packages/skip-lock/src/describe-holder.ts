import type { Holder } from "@sole-writer/core";
import { readSessionName } from "@sole-writer/postgres";
import type { LockHolder } from "./sql/who-holds.js";

/** Who holds a lock, read from the lock's session and its row. */
export type KnownHolder =
  /** A session of this package, with the row that says for which graph. */
  | {
      readonly kind: "replica";
      readonly holder: Holder;
      readonly app: string;
      readonly graph: string;
      readonly sessionId: string;
    }
  /** A session of this package that has the lock, and whose row cannot be seen yet. */
  | { readonly kind: "newcomer"; readonly holder: Holder; readonly sessionId: string }
  /** A program of somebody else that locks the same key. */
  | { readonly kind: "stranger"; readonly holder: Holder };

/** Reads the answer of the server. Undefined when nobody holds the lock any more. */
export function readHolder(found: LockHolder | null): KnownHolder | undefined {
  if (!found) return undefined;
  const name = readSessionName(found.application ?? "");
  if (!name) {
    const label = `${found.application || "a PostgreSQL session"} (pid ${found.pid})`;
    return { kind: "stranger", holder: { id: `pid-${found.pid}`, label } };
  }
  const { sessionId, holderId } = name;
  if (found.graph === null || found.app === null || found.label === null || found.fence === null)
    return { kind: "newcomer", holder: { id: holderId, label: name.label }, sessionId };
  const since = found.sinceMs === null ? {} : { since: new Date(found.sinceMs) };
  const holder = { id: holderId, label: found.label, fence: BigInt(found.fence), ...since };
  return { kind: "replica", holder, app: found.app, graph: found.graph, sessionId };
}
