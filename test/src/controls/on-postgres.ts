import { randomUUID } from "node:crypto";
import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import { type Coordinator, coordinatorOver, type Guarantees, newHolder } from "@sole-writer/core";
import pg from "pg";
import { altered } from "./altered.js";
import { type LockPlan, type LockSession, lockPort, plainLock } from "./plain-lock.js";

/** Which control a replica opens, and where. */
export interface PostgresControl {
  readonly control: keyof typeof onPostgres;
  readonly url: string;
}

type Broken = (options: OpenOptions<PostgresControl>) => Coordinator;

const over = (plan: LockPlan, options: OpenOptions, scope?: Guarantees["scope"]) => {
  const { label, acquireTimeoutMs, onEvent } = options;
  const holder = newHolder(label);
  return coordinatorOver(lockPort(plan, holder, scope), { holder, acquireTimeoutMs, onEvent });
};
const honest = ({ app, settings }: OpenOptions<PostgresControl>) => plainLock(settings.url, app);

const salt = randomUUID();
let sharedPool: pg.Pool | undefined;
let sharedClient: pg.Client | undefined;

/** Coordinators on a real Postgres, and what is wrong with each. */
export const onPostgres = {
  /** Nothing is: it shows that what the suite finds in the others is what was broken there. */
  honestLock: (options) => over(honest(options), options),

  /** Waits for the lock in place of trying it. */
  blockingLock: (options) =>
    over(
      {
        ...honest(options),
        async lock(session, key) {
          await session.query("select pg_advisory_lock(hashtextextended($1, 0))", [key]);
          return true;
        },
      },
      options,
    ),

  /** Hashes with a salt of the process, as the hash functions of some languages do. */
  saltedHash: (options) =>
    over({ ...honest(options), key: (graph) => `${salt}/${graph}` }, options),

  /** Goes on with an acquire that nobody waits for any more. */
  ignoresBeingGivenUp(options) {
    const plan = honest(options);
    return over({ ...plan, borrow: () => plan.borrow(new AbortController().signal) }, options);
  },

  /** The lock is as long as a transaction, and the transaction ends with the statement. */
  transactionLock: (options) =>
    over(
      {
        ...honest(options),
        async lock(session, key) {
          const { rows } = await session.query(
            "select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked",
            [key],
          );
          return rows[0]?.locked === true;
        },
      },
      options,
    ),

  /** Two replicas reach the server by one session, as behind a pooler in transaction mode. */
  pooledSession(options) {
    const { url } = options.settings;
    if (!sharedPool) {
      sharedPool = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
      sharedPool.on("error", () => undefined);
    }
    const pool = sharedPool;
    const pooled: LockPlan = {
      ...honest(options),
      borrow: async () => pool,
      giveBack: async (session, key) => unlock(session, key),
      close: async () => undefined,
    };
    return over(pooled, options, "process");
  },

  /** One session for a process, and nobody who counts what the process holds already. */
  reentrantSession(options) {
    const { url } = options.settings;
    const shared = async () => {
      if (!sharedClient) {
        sharedClient = new pg.Client({ connectionString: url });
        sharedClient.on("error", () => undefined);
        await sharedClient.connect();
      }
      return sharedClient;
    };
    const plan: LockPlan = {
      ...honest(options),
      borrow: shared,
      giveBack: async (session, key) => unlock(session, key),
      close: async () => undefined,
    };
    const opened: Coordinator[] = [];
    return altered(over(plan, options), {
      acquire(graph, asked) {
        // Each has a guard of its own, so that none guards against the others.
        const alone = over(plan, options);
        opened.push(alone);
        return alone.acquire(graph, asked);
      },
      async close(how) {
        await Promise.all(opened.map((one) => one.close(how)));
        const client = sharedClient;
        sharedClient = undefined;
        await client?.end();
      },
    });
  },
} satisfies Record<string, Broken>;

async function unlock(session: LockSession, key: string | undefined): Promise<void> {
  if (key === undefined) return;
  await session.query("select pg_advisory_unlock(hashtextextended($1, 0))", [key]);
}

/** Called in every replica. */
export function open(options: OpenOptions<PostgresControl>): Coordinator {
  return onPostgres[options.settings.control](options);
}

/** A factory for one of them. */
export function onPostgresFactory(
  control: PostgresControl["control"],
  url: string,
): CoordinatorFactory<PostgresControl> {
  const { hostname, port } = new URL(url);
  const factory = {
    open,
    settings: { control, url },
    faults: {
      network: {
        host: hostname,
        port: Number(port),
        settings: (to: number) => ({ control, url: overPort(url, to) }),
      },
    },
  };
  // One pool between two replicas is only to be had in one process.
  if (control === "pooledSession") return factory;
  return { ...factory, module: new URL("../../dist/controls/on-postgres.js", import.meta.url) };
}

function overPort(url: string, port: number): string {
  return Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href;
}
