import { join } from "node:path";
import { type TempFolder, tempFolder } from "../guard/temp-folder.js";
import type { ServerProcess } from "../process/server-process.js";
import { onFreePort } from "../servers/on-free-port.js";
import { type Account, serverAccount } from "./account.js";
import { findBinaries } from "./binaries.js";
import { createCluster, superuser, writeSettings } from "./data-folder.js";
import { startPostmaster } from "./postmaster.js";
import { askMajorVersion, createDatabaseAt, queryOnce } from "./query.js";
import type { PostgresOptions, PostgresServer } from "./server.js";
import { copyForStandby } from "./standby.js";
import { type UrlParts, urlWith } from "./urls.js";

/** A data folder and what it takes to run a server on it. */
interface Cluster {
  readonly binaries: string;
  readonly account: Account | undefined;
  readonly home: TempFolder;
  readonly folder: string;
}

/**
 * Starts a real PostgreSQL of its own on a free port of 127.0.0.1; resolves when it answers. Everybody
 * needs a password there. It is gone with this process, however that ends. Throws with the end of the
 * server's log when it does not start.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const account = serverAccount();
  const binaries = await findBinaries(options.binaries, account);
  const home = tempFolder("postgres", account);
  try {
    const folder = join(home.path, "data");
    await createCluster({ binaries, folder, parent: home.path, account });
    writeSettings(folder, options.settings);
    return await serve({ binaries, account, home, folder });
  } catch (error) {
    await home.remove();
    throw error;
  }
}

async function serve(cluster: Cluster): Promise<PostgresServer> {
  const { port, started } = await onFreePort((one) => startOn(cluster, one));
  const base = baseUrl(port);
  let postmaster = started;
  let isStopped = false;

  const url = (at?: UrlParts) => urlWith(base, at);

  async function startAgain(): Promise<void> {
    if (isStopped)
      throw new Error("This PostgreSQL was stopped and its data is gone: start a new one.");
    if (postmaster.hasExited) postmaster = await startOn(cluster, port);
  }

  async function restart(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await postmaster.end(endings[mode]);
    await startAgain();
  }

  async function startStandby(): Promise<PostgresServer> {
    const home = tempFolder("postgres", cluster.account);
    try {
      const folder = join(home.path, "data");
      await copyForStandby({
        from: cluster.folder,
        to: folder,
        primaryUrl: url(),
        account: cluster.account,
      });
      return await serve({ ...cluster, home, folder });
    } catch (error) {
      await home.remove();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    // Its data goes too, so a crash is the quickest way out.
    await postmaster.end(endings.immediate);
    await cluster.home.remove();
  }

  return {
    host: "127.0.0.1",
    port,
    majorVersion: await askMajorVersion(base),
    url,
    createDatabase: async () => url({ database: await createDatabaseAt(base, "sole_writer_") }),
    query: (sql, values, at = base) => queryOnce(at, sql, values),
    restart,
    shutDown: (mode = "fast") => postmaster.end(endings[mode]),
    startAgain,
    pause: (pid) => postmaster.signal("SIGSTOP", pid),
    resume: (pid) => postmaster.signal("SIGCONT", pid),
    startStandby,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** See the manual, "Shutting Down the Server". */
const endings = { fast: "SIGINT", immediate: "SIGQUIT" } as const;

function startOn(cluster: Cluster, port: number): Promise<ServerProcess> {
  const logFile = join(cluster.home.path, "log");
  return startPostmaster({ ...cluster, logFile, port, url: baseUrl(port) });
}

function baseUrl(port: number): string {
  return `postgres://${superuser.user}:${superuser.password}@127.0.0.1:${port}/postgres`;
}
