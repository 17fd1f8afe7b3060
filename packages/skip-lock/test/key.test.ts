import { InvalidOptionError } from "@sole-writer/core";
import { expect, it } from "vitest";
import { crcKey, lockKey, lockSpaceOf, skipLock } from "../src/index.js";

// Written by Python's zlib.crc32, so that another implementation vouches for each.
it.each([
  ["", -2147483648],
  ["a", 1756872259],
  ["b", -239144967],
  ["graph", -1991965220],
  ["Graph", 1216621272],
  ["plumless", -841282523],
  ["buckeroo", -841282523],
  ["codding", -372717779],
  ["gnu", -372717779],
])("gives %j the key %i, as every other language does", (text, key) => {
  expect(crcKey(text)).toBe(key);
  expect(lockSpaceOf(text)).toBe(key);
});

it("reads a name as UTF-8", () => {
  expect(crcKey("Prüfung")).toBe(-311962604);
});

it("stays within an int4", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => crcKey(`graph-${index}`));
  expect(keys.every(Number.isInteger)).toBe(true);
  expect(Math.min(...keys)).toBeGreaterThanOrEqual(-(2 ** 31));
  expect(Math.max(...keys)).toBeLessThan(2 ** 31);
  // Both halves of the range are in use.
  expect(Math.min(...keys)).toBeLessThan(-(2 ** 30));
  expect(Math.max(...keys)).toBeGreaterThan(2 ** 30);
});

it("shows a pair as pg_locks does", () => {
  expect(lockKey("pair", -7, "graph")).toEqual({
    form: "pair",
    text: "(-7,-1991965220)",
    lockArguments: ["-7", "-1991965220"],
    shownAs: { classId: 4294967289, objectId: 2303002076, subId: 2 },
  });
});

// By Python: int.from_bytes(sha256(text.encode()).digest()[:8], "big", signed=True)
it.each([
  [42, "graph", "2145728209452501845"],
  [-7, "Prüfung", "-6197109990269743509"],
])("hashes %i:%s to eight bytes for the single form", (lockSpace, graph, key) => {
  const { text, lockArguments, shownAs } = lockKey("single", lockSpace, graph);
  expect({ text, lockArguments }).toEqual({ text: key, lockArguments: [key] });
  expect(shownAs.subId).toBe(1);
  const shown = (BigInt(shownAs.classId) << 32n) | BigInt(shownAs.objectId);
  expect(BigInt.asIntN(64, shown)).toBe(BigInt(key));
});

const base = { app: "warehouse", url: "postgres://u:p@127.0.0.1:1/db" };
const graphs = ["plumless", "graph", "buckeroo"];

it("refuses configured names that share a key, and says which and what to do", () => {
  const open = () => skipLock({ ...base, graphs });
  expect(open).toThrow(InvalidOptionError);
  expect(open).toThrow(/"plumless" and "buckeroo" share the lock key .*key: "single"/);
});

it("keeps the same names apart by the single form, and allows a name that is listed twice", async () => {
  await using single = skipLock({ ...base, graphs, key: "single" });
  await using twice = skipLock({ ...base, graphs: ["graph", "graph"] });
  expect([single.strategy, twice.strategy]).toEqual(["skip-lock", "skip-lock"]);
});
