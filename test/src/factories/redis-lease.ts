import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import type { Coordinator } from "@sole-writer/core";
import { redisLease } from "@sole-writer/external-lease/redis";
import type { RedisServer } from "@sole-writer/testbed";

/** Where a replica finds Redis. It crosses to other processes. */
export interface RedisLeaseSettings {
  readonly url: string;
}

/** Short, so that the cases in which a lease must run out do not take long; longer than a restart takes. */
const ttlMs = 3_000;

/** Called in every replica. */
export function open(options: OpenOptions<RedisLeaseSettings>): Coordinator {
  const { app, label, acquireTimeoutMs, onEvent, settings } = options;
  return redisLease({ app, label, acquireTimeoutMs, onEvent, url: settings.url, ttlMs });
}

/** external-lease on a Redis that the suite may break. */
export function redisLeaseFactory(server: RedisServer): CoordinatorFactory<RedisLeaseSettings> {
  return {
    module: new URL("../../dist/factories/redis-lease.js", import.meta.url),
    settings: { url: server.url },
    faults: {
      network: {
        host: server.host,
        port: server.port,
        settings: (port) => ({ url: `redis://127.0.0.1:${port}` }),
      },
      wrongCredentials: { url: server.url.replace("redis://", "redis://nobody:wrong@") },
      async takeAway({ app, graph }) {
        await server.command("DEL", `sole-writer:{${app}/${encodeURIComponent(graph)}}:lease`);
      },
      restartBackend: () => server.restart(),
      loseData: () => server.flush(),
    },
  };
}
