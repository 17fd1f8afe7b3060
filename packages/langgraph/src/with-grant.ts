import type { Grant } from "@sole-writer/core";
import { within } from "./current-grant.js";
import { runScope } from "./run-scope.js";
import { watchBodies } from "./watch-bodies.js";

/**
 * Runs `work` under the grant: what it calls may write through a fenced saver, and `currentGrant()` is
 * there. For what `runGraph` has no name for: `updateState`, `deleteThread`, a graph that is invoked by
 * hand.
 *
 * It comes back when the work has, and when every node and every checkpoint write that it started has
 * ended; nothing of it can write afterwards. The grant stays yours to settle.
 * @throws what the work throws.
 * @throws {GrantLostError} when the grant is lost or settled before it begins.
 */
export async function withGrant<T>(grant: Grant, work: () => Promise<T>): Promise<T> {
  grant.assertHeld();
  watchBodies();
  const scope = runScope(grant);
  try {
    return await within({ scope }, work);
  } finally {
    scope.close(new Error(`The work under the grant on "${grant.graph}" is over.`));
    await scope.quiet(undefined);
  }
}
