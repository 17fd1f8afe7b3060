import { randomUUID } from "node:crypto";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { guardFolder } from "./guard.js";

/** A folder that is gone after this run. */
export interface TempFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A new folder under the machine's temporary folder, for `account` when that is another one. */
export function tempFolder(name: string, account?: { uid: number; gid: number }): TempFolder {
  const path = join(reachableTmpdir(account), `sole-writer-${name}-${randomUUID().slice(0, 13)}`);
  const forget = guardFolder(path);
  mkdirSync(path, { mode: 0o700 });
  if (account !== undefined) chownSync(path, account.uid, account.gid);
  async function remove(): Promise<void> {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    forget();
  }
  return { path, remove };
}

/** The machine's temporary folder, or `/tmp` when TMPDIR lies where `account` cannot go. */
export function reachableTmpdir(account?: object): string {
  return account === undefined || isOpenToAll(tmpdir()) ? tmpdir() : "/tmp";
}

/** True when every folder on the way to `path` may be entered by every account. */
export function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  const mode = statSync(path).mode;
  const open = (mode & 0o001) !== 0;
  return open && (parent === path || isOpenToAll(parent));
}
