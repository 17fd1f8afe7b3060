import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { currentPlace } from "./current-grant.js";
import { UnfencedWriteError } from "./errors.js";
import { isWriter, saverOver, threadOf } from "./saver-proxy.js";

const fencedSavers = new WeakSet<BaseCheckpointSaver>();

/**
 * A saver that writes only under a grant. Compile a graph with it, and the graph cannot be run past the
 * coordinator by mistake: `put`, `putWrites`, `deleteThread` and everything that comes to them
 * (`updateState`, subgraphs, streams, `entrypoint`) reject outside of `runGraph`, `streamGraph` and
 * `withGrant`. Under a grant that is not certain any more they reject at once; what is under way is waited
 * for before the grant is released. Reads are free, and every other member is the saver's own.
 *
 * It protects one process from itself. What another process writes too late, only the store can refuse:
 * for PostgreSQL that is `fencedPostgresSaver`.
 * @throws {UnfencedWriteError} from its writes, outside of a grant.
 * @throws {GrantLostError} from its writes, under a grant that is lost or settled.
 */
export function fenced<S extends BaseCheckpointSaver>(saver: S): S {
  if (fencedSavers.has(saver)) return saver;
  const over = saverOver(saver, (name, call) =>
    isWriter(name) ? (...args: unknown[]) => write(name, args, call) : undefined,
  );
  fencedSavers.add(over);
  return over;
}

async function write(
  name: string,
  args: readonly unknown[],
  call: (...args: unknown[]) => unknown,
): Promise<unknown> {
  const place = currentPlace();
  if (!place) throw new UnfencedWriteError(name, threadOf(args));
  return await place.scope.write(async () => call(...args));
}
