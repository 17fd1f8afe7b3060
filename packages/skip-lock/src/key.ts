import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { InvalidOptionError } from "@sole-writer/core";

/**
 * What PostgreSQL locks for a graph. The two forms live in two key spaces that never meet
 * (PostgreSQL manual, "Advisory Lock Functions").
 *
 * `pair`: two int4, for names that are written down: short, and easy in any language.
 * `single`: one int8 from a 64-bit hash, for names that are made at run time: a million names share no key
 * in all likelihood (the chance is below one in 30 million).
 */
export type KeyForm = "pair" | "single";

/** The lock key of one graph. */
export interface LockKey {
  readonly form: KeyForm;
  /** As it is written in SQL, and kept in `sole_writer.graph`: `(42,-1991965220)` or `1234567890`. */
  readonly text: string;
  /** The arguments of `pg_try_advisory_lock`. */
  readonly lockArguments: readonly string[];
  /** How `pg_locks` shows it: `classid`, `objid`, `objsubid`. */
  readonly shownAs: { readonly classId: number; readonly objectId: number; readonly subId: 1 | 2 };
}

const signed = 2 ** 31;

/**
 * `crc32(utf8(text)) - 2^31`, an int4. Python's `zlib.crc32(text.encode()) - 2**31` gives the same, and
 * so does every other CRC-32 of ISO 3309.
 */
export function crcKey(text: string): number {
  return crc32(text) - signed;
}

/** The number of an application that names none itself. */
export function lockSpaceOf(app: string): number {
  return crcKey(app);
}

/** The lock key of `graph` in the lock space of an application. */
export function lockKey(form: KeyForm, lockSpace: number, graph: string): LockKey {
  return form === "pair" ? pairKey(lockSpace, crcKey(graph)) : singleKey(lockSpace, graph);
}

function pairKey(lockSpace: number, key: number): LockKey {
  return {
    form: "pair",
    text: `(${lockSpace},${key})`,
    lockArguments: [String(lockSpace), String(key)],
    shownAs: { classId: lockSpace >>> 0, objectId: key >>> 0, subId: 2 },
  };
}

/** The first eight bytes, big-endian and signed, of SHA-256 over `<lockSpace>:<graph>` in UTF-8. */
function singleKey(lockSpace: number, graph: string): LockKey {
  const hash = createHash("sha256").update(`${lockSpace}:${graph}`).digest();
  const key = hash.readBigInt64BE(0);
  return {
    form: "single",
    text: String(key),
    lockArguments: [String(key)],
    shownAs: { classId: hash.readUInt32BE(0), objectId: hash.readUInt32BE(4), subId: 1 },
  };
}

/**
 * Refuses configured names of which two share one key: neither could ever run beside the other.
 * @throws {InvalidOptionError} naming both, and the ways out
 */
export function assertNoSharedKey(keyOf: (graph: string) => LockKey, graphs: readonly string[]) {
  const byKey = new Map<string, string>();
  for (const graph of graphs) {
    const { text } = keyOf(graph);
    const other = byKey.get(text);
    if (other !== undefined && other !== graph)
      throw new InvalidOptionError(
        `graphs: "${other}" and "${graph}" share the lock key ${text}, so that one would keep the other from running. Rename one, or set key: "single" on every replica.`,
      );
    byKey.set(text, graph);
  }
}
