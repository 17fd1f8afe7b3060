/**
 * skip-lock: one session-level advisory lock for each graph, on a dedicated session.
 *
 *     try the lock ── taken ──▶ raise the fence ──▶ work ──▶ record the ending ──▶ unlock ──▶ close
 *          │
 *          └─ held by another session ──▶ name the holder, keep the session for the next try
 *
 * The winner runs the tick; every other replica is told "no" at once and goes away. The lock is as long
 * as the session, and so the rules are those of the session:
 *
 * - It is private: never from a pool, and refused when a pooler or a standby answers.
 * - It is watched from both ends. We probe it every 2 s and give the grant up 5 s after the last good
 *   probe; the server drops a client that is silent for 10 s. A holder knows first.
 * - What is uncertain is closed. A statement that failed or was given up may have taken the lock, so its
 *   session ends, and the lock with it.
 *
 * A frozen process keeps its lock, because its session lives: safe, and the graph stands still until
 * somebody ends it. `inspect` shows for how long it has been held.
 */
import { type Coordinator, coordinatorOver, newHolder } from "@sole-writer/core";
import { dedicatedSessions } from "./dedicated-sessions.js";
import { lockKey } from "./key.js";
import { sessionOpener } from "./lock-sessions.js";
import { checkedOptions, type SkipLockOptions } from "./options.js";
import { lockPort } from "./port.js";
import { sharedSession } from "./shared-session.js";
import type { LockHome } from "./term.js";

/**
 * Opens the skip-lock strategy on PostgreSQL 14 or newer. Returns at once and connects when it is first
 * asked.
 * @throws {InvalidOptionError} for options that make no sense, before anything is connected
 */
export function skipLock(options: SkipLockOptions): Coordinator {
  const checked = checkedOptions(options);
  const { app, keyForm, lockSpace, address, acquireTimeoutMs } = checked;
  const holder = newHolder(options.label);
  const home: LockHome = {
    app,
    holder,
    keyOf: (graph) => lockKey(keyForm, lockSpace, graph),
    what: (verb, graph) => `Could not ${verb} "${graph}" (skip-lock on postgres at ${address})`,
  };
  const opener = sessionOpener(checked, holder);
  const sessions =
    checked.session === "shared"
      ? sharedSession(opener, acquireTimeoutMs)
      : dedicatedSessions(opener);
  return coordinatorOver(lockPort(home, sessions, checked), {
    holder,
    acquireTimeoutMs,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
}
