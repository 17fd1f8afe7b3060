import type { Term } from "@sole-writer/core";
import type { LockKey } from "./key.js";
import type { LockSession } from "./lock-sessions.js";

/** A grant as skip-lock knows it: a lock on a session. */
export interface LockTerm extends Term {
  readonly key: LockKey;
  readonly lockSession: LockSession;
  /** Stops telling the coordinator about the end of the session. */
  readonly unwatch: () => void;
}

/** What every part of a skip-lock coordinator knows of it. */
export interface LockHome {
  readonly app: string;
  readonly holder: { readonly id: string; readonly label: string };
  keyOf(graph: string): LockKey;
  /** `Could not ask for "g" (skip-lock on postgres at localhost:5432/app)`: the beginning of a message. */
  what(verb: string, graph: string): string;
}
