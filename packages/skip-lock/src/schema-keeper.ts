import { isBackendError } from "@sole-writer/core";
import { ensureSchema } from "@sole-writer/postgres";
import { forGraph } from "./for-graph.js";
import type { LockSession, LockSessions } from "./lock-sessions.js";
import type { LockHome } from "./term.js";

/** Makes sure that the tables are there before they are used, and again when they have vanished. */
export interface SchemaKeeper {
  /** Runs `work` with the schema there; once more when it finds that somebody dropped it meanwhile. */
  with<T>(graph: string | undefined, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function schemaKeeper(
  home: LockHome,
  sessions: LockSessions,
  { migrate }: { readonly migrate: boolean },
): SchemaKeeper {
  let isReady = false;

  async function ensure(graph: string | undefined, signal: AbortSignal): Promise<void> {
    let lockSession: LockSession | undefined;
    try {
      lockSession = await sessions.borrowAlone(signal);
      await ensureSchema(lockSession.session, { create: migrate, signal });
      isReady = true;
      sessions.putBackAlone(lockSession);
    } catch (error) {
      lockSession?.session.destroy();
      throw signal.aborted
        ? signal.reason
        : forGraph(error, home.what("ask for", graph ?? "every graph"));
    }
  }

  return {
    async with(graph, signal, work) {
      if (!isReady) await ensure(graph, signal);
      try {
        return await work();
      } catch (error) {
        if (!isBackendError(error) || error.code !== "BACKEND_SCHEMA") throw error;
        isReady = false;
        await ensure(graph, signal);
        return work();
      }
    },
  };
}
