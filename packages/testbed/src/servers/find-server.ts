import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A server that npm does not ship. */
export type ServerName = "pgbouncer" | "redis-server" | "etcd";

/** Where its program is, or what somebody can do about it. */
export type FoundServer =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly advice: string };

/** How to have it without installing it. */
const containers: Record<ServerName, string> = {
  pgbouncer:
    "docker compose up -d pgbouncer, with " +
    "DATABASE_URL=postgres://postgres:postgres@127.0.0.1:5432/postgres and " +
    "PGBOUNCER_URL=postgres://postgres:postgres@127.0.0.1:6432/postgres",
  "redis-server": "docker compose up -d redis, with REDIS_URL=redis://127.0.0.1:6379",
  etcd: "docker compose up -d etcd, with ETCD_URL=http://127.0.0.1:2379",
};

/** Where a server may be though no shell of an ordinary user looks there. */
const morePlaces = ["/usr/local/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** Looks for a server's program on PATH and where systems put servers. */
export function findServer(name: ServerName): FoundServer {
  const places = [...(process.env.PATH ?? "").split(delimiter), ...morePlaces];
  for (const place of places) {
    const path = join(place, name);
    if (place !== "" && isProgram(path)) return { found: true, path };
  }
  const advice =
    `${name} is not installed. Install it with your package manager ` +
    `(scripts/install-servers.sh ${name} as root on Debian or Ubuntu), or run: ${containers[name]}`;
  return { found: false, advice };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
