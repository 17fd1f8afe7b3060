import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import type { Coordinator } from "@sole-writer/core";
import { skipLock } from "@sole-writer/skip-lock";
import type { VanishingWay } from "../faults/vanishing-way.js";

/** Where a replica finds the database. It crosses to other processes. */
export interface SkipLockSettings {
  readonly url: string;
}

/** The server of the run, as far as the faults need it. */
export interface FaultyServer {
  readonly host: string;
  readonly port: number;
  query(sql: string, values?: unknown[], url?: string): Promise<unknown>;
  restart(): Promise<void>;
}

/** Called in every replica. */
export function open(options: OpenOptions<SkipLockSettings>): Coordinator {
  const { app, label, acquireTimeoutMs, onEvent, settings } = options;
  return skipLock({ app, label, acquireTimeoutMs, onEvent, url: settings.url });
}

/**
 * skip-lock on a server that the suite may break; `url` is a database of its own there. `way` leads to it
 * where this machine can have one.
 */
export async function skipLockFactory(
  server: FaultyServer,
  url: string,
  way: VanishingWay | undefined,
): Promise<CoordinatorFactory<SkipLockSettings>> {
  const over = await way?.leadTo(server.port);
  const hostVanishes = way &&
    over && {
      settings: { url: changed(url, { host: `${over.host}:${over.port}` }) },
      cut: way.cut,
      restore: way.restore,
    };
  return {
    module: new URL("../../dist/factories/skip-lock.js", import.meta.url),
    settings: { url },
    faults: {
      network: {
        host: server.host,
        port: server.port,
        settings: (port) => ({ url: changed(url, { host: `127.0.0.1:${port}` }) }),
      },
      ...(hostVanishes && { hostVanishes }),
      wrongCredentials: { url: changed(url, { password: "wrong" }) },
      async takeAway({ app, graph, fence }) {
        await server.query(
          `select pg_terminate_backend(backend_pid, 5000) from sole_writer.graph
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
