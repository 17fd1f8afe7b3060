import {
  assertAppName,
  assertDurationMs,
  assertShorterMs,
  InvalidOptionError,
  type Observer,
} from "@sole-writer/core";
import { Redis, type RedisOptions } from "ioredis";

/** How to reach Redis, how long a lease lives, and who asks. */
export interface RedisLeaseOptions {
  /** Name of the application. Applications on one Redis never meet. */
  readonly app: string;
  /** `redis://…` or `rediss://…` of the primary. Or `client`. */
  readonly url?: string;
  /** A client of `ioredis` whose options are taken over. Connections are our own; this one stays yours. */
  readonly client?: Redis;
  /** How long in ms a lease outlives its last renewal. Default 10,000, at least 500. */
  readonly ttlMs?: number;
  /** How often in ms leases are renewed. Default: a quarter of `ttlMs`. */
  readonly renewEveryMs?: number;
  /** How long in ms before the end of the lease its holder stops believing. Default: a tenth of `ttlMs`. */
  readonly safetyMarginMs?: number;
  /** For people, in refusals. Default `host:pid`. */
  readonly label?: string;
  /** Longest time in ms for one question, the connection included. Default 5,000. */
  readonly acquireTimeoutMs?: number;
  readonly onEvent?: Observer;
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly app: string;
  readonly connect: () => Redis;
  readonly address: string;
  readonly ttlMs: number;
  readonly renewEveryMs: number;
  readonly safetyMarginMs: number;
  readonly acquireTimeoutMs: number;
}

const known = [
  "app",
  "url",
  "client",
  "ttlMs",
  "renewEveryMs",
  "safetyMarginMs",
  "label",
  "acquireTimeoutMs",
  "onEvent",
] satisfies readonly (keyof RedisLeaseOptions)[];

const shortestTtlMs = 500;

/**
 * A connection of ours: it is opened when it is asked for, never opens again by itself, and keeps no command
 * for later. So what was given up is not sent by the client when the server is back.
 */
const ours = {
  lazyConnect: true,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
} satisfies RedisOptions;

/** @throws {InvalidOptionError} for the first option that makes no sense. */
export function checkedOptions(options: RedisLeaseOptions): CheckedOptions {
  const unknown = Object.keys(options).find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new InvalidOptionError(
      `redisLease has no option ${unknown}; it has ${known.join(", ")}.`,
    );
  const { app, url, client, ttlMs = 10_000, acquireTimeoutMs = 5_000 } = options;
  assertAppName(app);
  assertDurationMs("ttlMs", ttlMs, shortestTtlMs);
  const { renewEveryMs = Math.floor(ttlMs / 4), safetyMarginMs = Math.floor(ttlMs / 10) } = options;
  assertDurationMs("renewEveryMs", renewEveryMs);
  assertDurationMs("safetyMarginMs", safetyMarginMs);
  assertDurationMs("acquireTimeoutMs", acquireTimeoutMs);
  assertShorterMs(
    "renewEveryMs",
    renewEveryMs,
    "ttlMs - safetyMarginMs",
    ttlMs - safetyMarginMs,
    "a lease must be renewed before its holder stops believing in it",
  );
  const { connect, address } = reach(url, client);
  return { app, connect, address, ttlMs, renewEveryMs, safetyMarginMs, acquireTimeoutMs };
}

function reach(url: string | undefined, client: Redis | undefined) {
  if ((url === undefined) === (client === undefined))
    throw new InvalidOptionError("give url or client, one of them: where Redis is.");
  if (client) {
    if (!(client instanceof Redis))
      throw new InvalidOptionError("client must be a Redis of ioredis.");
    const { host, port } = client.options;
    return { connect: () => client.duplicate(ours), address: `${host}:${port}` };
  }
  if (typeof url !== "string" || !/^rediss?:\/\//.test(url) || !URL.canParse(url))
    throw new InvalidOptionError("url must be a URL such as redis://user:password@host:6379/0.");
  const { host } = new URL(url);
  return { connect: () => new Redis(url, ours), address: host };
}
