import {
  assertAppName,
  assertDurationMs,
  assertGraphName,
  assertShorterMs,
  InvalidOptionError,
  type Observer,
} from "@sole-writer/core";
import {
  addressOf,
  assertConnectionUrl,
  assertSchemaName,
  defaultSchema,
  type PoolAddress,
  urlOfPool,
} from "@sole-writer/postgres";
import { assertKnown, assertOneOf, assertWhole } from "./checks.js";

/** What becomes of the units of a graph. It is written into a unit when that is submitted. */
export interface UnitPolicy {
  /** How often a unit may be started before it is a dead letter. Default 5. */
  readonly maxAttempts: number;
  /** Pause in ms after the first failure, doubled after each further one. Default 1,000. */
  readonly retryFirstMs: number;
  /** Longest pause in ms. Default 300,000. */
  readonly retryMostMs: number;
  /** For how long in ms a unit that is done or cancelled is kept. Default one day. */
  readonly keepDoneMs: number;
}

/** How to reach PostgreSQL. */
export type Reach =
  /** `postgres://…` of the primary. */
  | { readonly url: string; readonly pool?: never }
  /**
   * A pool of `pg` that leads to the primary. It only says where that is: claims and renewals have
   * connections of their own, which the work cannot starve, and nothing is taken from the pool.
   */
  | { readonly pool: PoolAddress; readonly url?: never };

/** How to reach PostgreSQL, who asks, and what becomes of units. */
export type DurableClaimOptions = Reach & ClaimSettings;

/** Who asks, and what becomes of units. */
export interface ClaimSettings extends Partial<UnitPolicy> {
  /** Name of the application. Applications on one database never meet. */
  readonly app: string;
  /** For how long in ms a claim outlives the last renewal. Default 10,000, at least 500. */
  readonly leaseMs?: number;
  /** How often in ms the lease of the process is renewed. Default: a quarter of `leaseMs`. */
  readonly heartbeatMs?: number;
  /**
   * What has one writer at a time. `graph` (default): at most one unit of a graph runs. `unit`: units of
   * one graph run side by side, each on a thread of its own.
   */
  readonly exclusive?: "graph" | "unit";
  /** With `exclusive: "unit"`: most units of one graph at a time, over all replicas. Default: no limit. */
  readonly parallel?: number;
  /** Policies of single graphs, where they differ. */
  readonly graphs?: Readonly<Record<string, Partial<UnitPolicy>>>;
  /** For people, in refusals and in the backlog. Default `host:pid`. */
  readonly label?: string;
  /** Longest time in ms for one question, the connection included. Default 5,000. */
  readonly acquireTimeoutMs?: number;
  /** How long in ms `whenDue` waits when nobody says that there is work. Default 1,000. */
  readonly pollMs?: number;
  /** Be woken by LISTEN/NOTIFY, on a session of its own. Default true; without, `pollMs` alone counts. */
  readonly wake?: boolean;
  /** Largest payload in bytes of JSON. Default 1,000,000. */
  readonly maxPayloadBytes?: number;
  /** Where the tables are. Applications that share one do not meet. Default `sole_writer`. */
  readonly schema?: string;
  /** Make the schema when it is missing. Default true. */
  readonly migrate?: boolean;
  readonly onEvent?: Observer;
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly app: string;
  readonly url: string;
  readonly schema: string;
  readonly address: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly exclusive: "graph" | "unit";
  readonly parallel: number | undefined;
  readonly acquireTimeoutMs: number;
  readonly pollMs: number;
  readonly wake: boolean;
  readonly maxPayloadBytes: number;
  readonly migrate: boolean;
  policyOf(graph: string): UnitPolicy;
}

const policyNames = [
  "maxAttempts",
  "retryFirstMs",
  "retryMostMs",
  "keepDoneMs",
] satisfies readonly (keyof UnitPolicy)[];
const known: readonly string[] = [
  "app",
  "url",
  "pool",
  "leaseMs",
  "heartbeatMs",
  "exclusive",
  "parallel",
  "graphs",
  "label",
  "acquireTimeoutMs",
  "pollMs",
  "wake",
  "maxPayloadBytes",
  "schema",
  "migrate",
  "onEvent",
  ...policyNames,
] satisfies readonly (keyof ClaimSettings | "url" | "pool")[];

const defaults: UnitPolicy = {
  maxAttempts: 5,
  retryFirstMs: 1_000,
  retryMostMs: 300_000,
  keepDoneMs: 24 * 60 * 60 * 1_000,
};
/** A lease has to survive a slow answer and a busy event loop. */
const shortestLeaseMs = 500;

/** @throws {InvalidOptionError} for the first option that makes no sense. */
export function checkedOptions(options: DurableClaimOptions): CheckedOptions {
  assertKnown("durableClaim", options, known);
  const { app, exclusive = "graph", parallel, wake = true, migrate = true } = options;
  assertAppName(app);
  const url = urlIn(options);
  const { schema = defaultSchema } = options;
  assertSchemaName("schema", schema);
  const { leaseMs = 10_000, acquireTimeoutMs = 5_000, pollMs = 1_000 } = options;
  assertDurationMs("leaseMs", leaseMs, shortestLeaseMs);
  const { heartbeatMs = Math.floor(leaseMs / 4), maxPayloadBytes = 1_000_000 } = options;
  assertDurationMs("heartbeatMs", heartbeatMs);
  assertShorterMs(
    "heartbeatMs",
    heartbeatMs,
    "half of leaseMs",
    leaseMs / 2,
    "one renewal may be lost without the work being lost",
  );
  assertDurationMs("acquireTimeoutMs", acquireTimeoutMs);
  assertDurationMs("pollMs", pollMs);
  assertWhole("maxPayloadBytes", maxPayloadBytes, 1, 100_000_000);
  assertOneOf("exclusive", exclusive, ["graph", "unit"]);
  assertOneOf("wake", wake, [true, false]);
  assertOneOf("migrate", migrate, [true, false]);
  if (parallel !== undefined) {
    assertWhole("parallel", parallel, 1, 10_000);
    if (exclusive === "graph")
      throw new InvalidOptionError(
        'parallel is for exclusive: "unit"; with exclusive: "graph" one unit of a graph runs at a time.',
      );
  }
  return {
    app,
    url,
    schema,
    address: addressOf(url).shown,
    leaseMs,
    heartbeatMs,
    exclusive,
    parallel,
    acquireTimeoutMs,
    pollMs,
    wake,
    maxPayloadBytes,
    migrate,
    policyOf: policies(options),
  };
}

function urlIn({ url, pool }: DurableClaimOptions): string {
  if (url !== undefined && pool !== undefined)
    throw new InvalidOptionError("url and pool both say where PostgreSQL is: give one of them.");
  if (pool !== undefined) return urlOfPool("pool", pool);
  assertConnectionUrl("url", url);
  return url;
}

function policies(options: DurableClaimOptions): (graph: string) => UnitPolicy {
  const general = checkedPolicy(options, defaults);
  const single = new Map<string, UnitPolicy>();
  for (const [graph, policy] of Object.entries(options.graphs ?? {})) {
    assertGraphName(graph);
    assertKnown(`the policy of "${graph}"`, policy, policyNames);
    single.set(graph, checkedPolicy(policy, general));
  }
  return (graph) => single.get(graph) ?? general;
}

function checkedPolicy(given: Partial<UnitPolicy>, otherwise: UnitPolicy): UnitPolicy {
  const policy = {
    maxAttempts: given.maxAttempts ?? otherwise.maxAttempts,
    retryFirstMs: given.retryFirstMs ?? otherwise.retryFirstMs,
    retryMostMs: given.retryMostMs ?? otherwise.retryMostMs,
    keepDoneMs: given.keepDoneMs ?? otherwise.keepDoneMs,
  };
  assertWhole("maxAttempts", policy.maxAttempts, 1, 1_000_000);
  assertDurationMs("retryFirstMs", policy.retryFirstMs);
  assertDurationMs("retryMostMs", policy.retryMostMs);
  assertDurationMs("keepDoneMs", policy.keepDoneMs, 0);
  if (policy.retryMostMs < policy.retryFirstMs)
    throw new InvalidOptionError(
      `retryMostMs (${policy.retryMostMs} ms) must not be less than retryFirstMs (${policy.retryFirstMs} ms).`,
    );
  return policy;
}
