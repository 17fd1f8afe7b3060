import { execFile } from "node:child_process";
import { appendFileSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { guardedEnv } from "../guard/guard.js";
import type { Account } from "./account.js";

/** The superuser of every server started here. */
export const superuser = { user: "postgres", password: "postgres" } as const;

/** What one server setting may be. */
export type Settings = Readonly<Record<string, string | number>>;

/**
 * For tests: nothing has to outlive a power cut, but a commit outlives a crash of the server, so
 * synchronous_commit stays on. Dynamic shared memory lies in the data folder, because
 * a killed server leaves it behind elsewhere, and containers have little of it.
 */
const settingsForTests: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 100,
  fsync: "off",
  full_page_writes: "off",
  dynamic_shared_memory_type: "mmap",
  wal_level: "replica",
  max_wal_senders: 4,
  wal_keep_size: "128MB",
  hot_standby: "on",
  logging_collector: "off",
};

/** What a server's programs run with: nothing of the caller's PG* variables. */
export function serverEnv(): NodeJS.ProcessEnv {
  return guardedEnv({ PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" });
}

/** Fills `folder` with an empty cluster whose host connections need a password (scram-sha-256). */
export async function createCluster(at: {
  readonly binaries: string;
  readonly folder: string;
  readonly parent: string;
  readonly account: Account | undefined;
}): Promise<void> {
  const passwordFile = join(at.parent, "password");
  writeFileSync(passwordFile, `${superuser.password}\n`, { mode: 0o600 });
  if (at.account !== undefined) chownSync(passwordFile, at.account.uid, at.account.gid);
  try {
    await promisify(execFile)(
      join(at.binaries, "initdb"),
      [
        `--pgdata=${at.folder}`,
        `--username=${superuser.user}`,
        `--pwfile=${passwordFile}`,
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
      ],
      { ...at.account, env: serverEnv(), cwd: at.parent },
    );
  } catch (cause) {
    const { stderr } = cause as { stderr?: string };
    throw new Error(`initdb failed for ${at.folder}: ${stderr ?? String(cause)}`, { cause });
  }
}

/** Adds settings; the last one of a name counts. */
export function writeSettings(folder: string, settings: Settings = {}): void {
  const lines = Object.entries({ ...settingsForTests, ...settings }).map(
    ([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'`,
  );
  appendFileSync(join(folder, "postgresql.conf"), `\n${lines.join("\n")}\n`);
}
