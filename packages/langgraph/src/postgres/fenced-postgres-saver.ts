import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { InvalidOptionError } from "@sole-writer/core";
import type { Pool } from "pg";
import { currentGrant, currentPlace } from "../current-grant.js";
import { fenced } from "../fenced.js";
import { checkGuardOptions, type GuardOptions } from "../guard/guard-options.js";
import { isWriter, saverOver, threadOf } from "../saver-proxy.js";
import { guardRefusal, threadKeeper } from "./enter-thread.js";
import { fencingPool } from "./fencing-pool.js";
import { setUp } from "./set-up.js";

export interface FencedPostgresSaverOptions extends GuardOptions {
  /** As the second parameter of `PostgresSaver`. */
  readonly serde?: ConstructorParameters<typeof PostgresSaver>[1];
}

/**
 * LangGraph's own `PostgresSaver`, whose every write carries the fence of the grant, and is refused by
 * PostgreSQL when a newer grant has entered the thread: in the transaction of the write, not before it.
 *
 * Call `setup()` as you would with the saver; it puts the guard on the tables as well, and may be called
 * by many replicas at once. Writes are possible under a grant only, as with `fenced`. The first call under
 * a grant that concerns a thread enters it: it raises the thread's fence and waits for writes under way.
 * Reads that a node makes itself enter nothing. The pool stays yours to end.
 * @throws {InvalidOptionError} for options that make no sense.
 * @throws {UnfencedWriteError} from its writes, outside of a grant.
 * @throws {GrantLostError} from its writes, under a grant that is lost.
 * @throws {StaleWriteError} from its writes, when the thread was entered by a newer grant of another graph.
 */
export function fencedPostgresSaver(
  pool: Pool,
  options: FencedPostgresSaverOptions = {},
): PostgresSaver {
  if (typeof pool?.connect !== "function")
    throw new InvalidOptionError("pool must be a Pool of pg.");
  const { schema, mode } = checkGuardOptions(options);
  const saver = new PostgresSaver(fencingPool(pool, currentGrant), options.serde, { schema });
  const threads = threadKeeper(pool, schema);

  async function enterFor(args: readonly unknown[]): Promise<void> {
    const grant = currentGrant();
    const threadId = threadOf(args);
    if (grant && threadId !== undefined) await threads.enter(grant, threadId);
  }

  async function enterToRead(args: readonly unknown[]): Promise<void> {
    if (currentPlace()?.node === undefined) await enterFor(args);
  }

  const guarded = saverOver(saver, (name, call) => {
    if (name === "setup") return () => setUp(pool, { schema, ...(options.mode && { mode }) });
    if (name === "list")
      return async function* (...args: unknown[]) {
        await enterToRead(args);
        yield* call(...args) as AsyncIterable<unknown>;
      };
    if (name === "getTuple" || name === "get" || name === "getDeltaChannelHistory")
      return async (...args: unknown[]) => {
        await enterToRead(args);
        return await call(...args);
      };
    if (isWriter(name))
      return async (...args: unknown[]) => {
        await enterFor(args);
        try {
          return await call(...args);
        } catch (error) {
          const grant = currentGrant();
          const refused = grant && (await guardRefusal(error, grant, threadOf(args) ?? "?"));
          throw refused ?? error;
        }
      };
    return undefined;
  });
  return fenced(guarded);
}
