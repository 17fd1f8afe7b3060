import { execFile } from "node:child_process";
import { chownSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import type { Account } from "./account.js";
import { serverEnv, writeSettings } from "./data-folder.js";

/** Of the running server alone: see the manual, "Backing Up the Data Directory". */
const emptied = ["postmaster.pid", "postmaster.opts", "pg_replslot", "pg_dynshmem", "pg_wal"];
/** How often a file may vanish under the copy, as temporary ones do. */
const copyTries = 5;

/**
 * Copies a running server's data folder so that a standby can start on it. By PostgreSQL's low-level
 * backup, because the binaries from npm have no `pg_basebackup`. Needs PostgreSQL 15 or later.
 */
export async function copyForStandby(at: {
  readonly from: string;
  readonly to: string;
  readonly primaryUrl: string;
  readonly account: Account | undefined;
}): Promise<void> {
  const client = new pg.Client({ connectionString: at.primaryUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    await copyFolder(at);
    const { rows } = await client.query<{ labelfile: string }>(
      "SELECT labelfile FROM pg_backup_stop(false)",
    );
    writeAs(at.account, join(at.to, "backup_label"), rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
  for (const name of emptied) removeFiles(join(at.to, name));
  writeAs(at.account, join(at.to, "standby.signal"), "");
  writeSettings(at.to, { primary_conninfo: at.primaryUrl });
}

/** By `cp` under the server's account, so that the copy belongs to it. */
async function copyFolder(at: {
  readonly from: string;
  readonly to: string;
  readonly account: Account | undefined;
}): Promise<void> {
  for (let triesLeft = copyTries; ; triesLeft -= 1) {
    try {
      await promisify(execFile)("cp", ["-Rp", at.from, at.to], {
        ...at.account,
        cwd: at.from,
        env: serverEnv(),
      });
      return;
    } catch (error) {
      if (triesLeft === 1) throw error;
      rmSync(at.to, { recursive: true, force: true });
    }
  }
}

/** Empties a folder but keeps its folders, or removes a file. */
function removeFiles(path: string): void {
  let entries: string[];
  try {
    entries = readdirSync(path);
  } catch {
    rmSync(path, { force: true });
    return;
  }
  for (const entry of entries) removeFiles(join(path, entry));
}

function writeAs(account: Account | undefined, file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  if (account !== undefined) chownSync(file, account.uid, account.gid);
}
