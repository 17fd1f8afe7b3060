import { BackendError, isBackendError } from "@sole-writer/core";
import { postgresFault } from "@sole-writer/postgres";

/**
 * A fault with the graph in its message: what keeps a session from being opened, or the schema from being
 * made, knows nothing of the graph that needed it.
 */
export function forGraph(error: unknown, what: string): BackendError {
  if (!isBackendError(error)) return postgresFault(error, what);
  return new BackendError(error.code, `${what}. ${error.message}`, { cause: error });
}
