import { Socket } from "node:net";
import {
  BackendError,
  type Guarantees,
  type Holder,
  type TakeAnswer,
  type Term,
  type TermPort,
} from "@sole-writer/core";
import pg from "pg";

/** How a lock on Postgres is taken. The controls change one of these each. */
export interface LockPlan {
  /** The name that is locked. */
  key(graph: string): string;
  /** Takes the lock on `session`, or says no. */
  lock(session: LockSession, key: string): Promise<boolean>;
  /** A session to take a lock on, and what to do with it afterwards. It ends when `signal` aborts. */
  borrow(signal: AbortSignal): Promise<LockSession>;
  giveBack(session: LockSession, key: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** What of a connection the plans need; a pool answers to it as well. */
export interface LockSession {
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

interface LockTerm extends Term {
  readonly session: LockSession;
  readonly key: string;
}

const tryLock = "select pg_try_advisory_lock(hashtextextended($1, 0)) as locked";

/** The honest plan: a session of its own for each lock, closed with it. */
export function plainLock(url: string, app: string): LockPlan {
  const open = new Set<pg.Client>();
  const end = async (client: pg.Client) => {
    open.delete(client);
    await client.end();
  };
  return {
    key: (graph) => `${app}/${graph}`,
    async lock(session, key) {
      const { rows } = await session.query(tryLock, [key]);
      return rows[0]?.locked === true;
    },
    async borrow(signal) {
      const socket = new Socket();
      signal.addEventListener("abort", () => socket.destroy());
      const client = new pg.Client({ connectionString: url, stream: () => socket });
      client.on("error", () => undefined);
      await client.connect();
      open.add(client);
      return client;
    },
    async giveBack(session) {
      if (session instanceof pg.Client) await end(session);
    },
    async close() {
      await Promise.all([...open].map(end));
    },
  };
}

const guarantees: Guarantees = {
  survivesCrash: false,
  backlog: false,
  frozenHolder: "keeps-grant",
  handover: { processKilledMs: 0, hostVanishedMs: 60_000 },
  lossToldWithinMs: 5_000,
  scope: "backend",
};

/** The smallest strategy on Postgres that keeps the laws which the controls here are about. */
export function lockPort(
  plan: LockPlan,
  self: Holder,
  scope: Guarantees["scope"] = "backend",
): TermPort<LockTerm> {
  async function take(graph: string, signal: AbortSignal): Promise<TakeAnswer<LockTerm>> {
    const session = await plan.borrow(signal);
    const key = plan.key(graph);
    if (!(await plan.lock(session, key))) {
      await plan.giveBack(session, undefined);
      return { taken: false, reason: "held" };
    }
    const { rows } = await session.query(
      "select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as fence",
    );
    const fence = BigInt(String(rows[0]?.fence));
    return { taken: true, term: { graph, fence, since: new Date(), session, key } };
  }

  return {
    strategy: "plain-lock",
    backend: "postgres",
    guarantees: { ...guarantees, scope },
    life: {
      kind: "session",
      ttlMs: 5_000,
      safetyMarginMs: 500,
      renewEveryMs: 1_000,
      renewTimeoutMs: 1_000,
    },
    async take({ graph, signal, sending }) {
      sending();
      try {
        return await take(graph, signal);
      } catch (cause) {
        const { label } = self;
        throw new BackendError("BACKEND_FAULT", `${label} could not ask for "${graph}".`, {
          cause,
        });
      }
    },
    renew: (terms) =>
      Promise.all(
        terms.map(async ({ session }) => {
          try {
            await session.query("select 1");
            return { state: "held" } as const;
          } catch (cause) {
            return { state: "gone", cause } as const;
          }
        }),
      ),
    async settle({ session, key }) {
      await plan.giveBack(session, key);
      return "settled";
    },
    abandon: ({ session, key }) => void plan.giveBack(session, key).catch(() => undefined),
    read: async () => [],
    prove: async () => [],
    close: () => plan.close(),
  };
}
