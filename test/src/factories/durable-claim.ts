import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import type { DurableCoordinator } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";
import type { FaultyServer } from "./skip-lock.js";

/** Where a replica finds the database. It crosses to other processes. */
export interface DurableClaimSettings {
  readonly url: string;
}

/** Short, so that the cases in which a lease must run out do not take long; longer than a restart takes. */
const leaseMs = 3_000;
const heartbeatMs = 500;

/** Called in every replica. */
export function open(options: OpenOptions<DurableClaimSettings>): DurableCoordinator {
  const { app, label, acquireTimeoutMs, onEvent, settings } = options;
  const { url } = settings;
  const times = { acquireTimeoutMs, leaseMs, heartbeatMs, retryFirstMs: 100 };
  return durableClaim({ app, label, onEvent, url, ...times });
}

/** durable-claim on a server that the suite may break; `url` is a database of its own there. */
export function durableClaimFactory(
  server: FaultyServer,
  url: string,
): CoordinatorFactory<DurableClaimSettings> {
  return {
    module: new URL("../../dist/factories/durable-claim.js", import.meta.url),
    settings: { url },
    faults: {
      network: {
        host: server.host,
        port: server.port,
        settings: (port) => ({ url: changed(url, { host: `127.0.0.1:${port}` }) }),
      },
      wrongCredentials: { url: changed(url, { password: "wrong" }) },
      async takeAway({ app, graph, fence }) {
        await server.query(
          `update sole_writer.graph set lease_id = null, holder_id = null, holder_label = null
           where app = $1 and graph = $2 and fence = $3`,
          [app, graph, String(fence)],
          url,
        );
      },
      restartBackend: () => server.restart(),
      async loseData() {
        await server.query("drop schema if exists sole_writer cascade", [], url);
      },
    },
  };
}

function changed(url: string, parts: { host?: string; password?: string }): string {
  return Object.assign(new URL(url), parts).href;
}
