import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  describeFindings,
  findingsOf,
  type OracleRecord,
  oraclePen,
  readOracle,
  runsOf,
} from "../src/index.js";

const facts = { app: "warehouse", graph: "price_feed", pid: 7 };

/** A run as the two lines that it leaves. */
function lines(run: string, fence: bigint, begin: bigint, end?: bigint): OracleRecord[] {
  const began: OracleRecord = { ...facts, kind: "begin", run, fence, at: begin };
  return end === undefined ? [began] : [began, { ...began, kind: "end", at: end }];
}

describe("the oracle's file", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "oracle-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("keeps fences and times that no number can hold, from two pens at once", () => {
    const file = join(folder, "oracle.jsonl");
    const fence = 2n ** 63n - 1n;
    const pens = [oraclePen(file), oraclePen(file)];
    const written = lines("one", fence, 2n ** 60n + 1n, 2n ** 60n + 3n);
    written.forEach((record, index) => {
      pens[index]?.write(record);
    });
    for (const pen of pens) pen.close();
    expect(readOracle(file)).toEqual(written);
  });

  it("does not swallow a line that it cannot read", () => {
    const file = join(folder, "oracle.jsonl");
    appendFileSync(file, '{"kind":"beg');
    expect(() => readOracle(file)).toThrow(SyntaxError);
  });
});

describe("findingsOf", () => {
  it("finds nothing in runs that come one after another with rising fences", () => {
    const runs = runsOf([...lines("one", 9n, 1n, 2n), ...lines("two", 10n, 2n, 3n)]);
    expect(describeFindings(findingsOf(runs))).toEqual([]);
  });

  it("finds every pair that overlaps, also a short run inside a long one", () => {
    const runs = runsOf([
      ...lines("long", 1n, 0n, 100n),
      ...lines("inside", 2n, 10n, 20n),
      ...lines("later", 3n, 30n, 130n),
    ]);
    const pairs = findingsOf(runs).overlaps.map((pair) => pair.map(({ run }) => run));
    expect(pairs).toEqual([
      ["long", "inside"],
      ["long", "later"],
    ]);
  });

  it("lets runs of other graphs and other applications overlap", () => {
    const other = lines("other", 1n, 0n, 10n).map((line) => ({ ...line, graph: "pack_audit" }));
    const elsewhere = lines("elsewhere", 1n, 0n, 10n).map((line) => ({ ...line, app: "shop" }));
    const runs = runsOf([...lines("one", 1n, 0n, 10n), ...other, ...elsewhere]);
    expect(describeFindings(findingsOf(runs))).toEqual([]);
  });

  it("finds a fence that falls and one that stays, against the highest before it", () => {
    const runs = runsOf([
      ...lines("one", 99n, 0n, 1n),
      ...lines("two", 100n, 2n, 3n),
      ...lines("stays", 100n, 4n, 5n),
      ...lines("falls", 9n, 6n, 7n),
    ]);
    const pairs = findingsOf(runs).fallingFences.map((pair) => pair.map(({ run }) => run));
    expect(pairs).toEqual([
      ["two", "stays"],
      ["two", "falls"],
    ]);
  });

  it("names a run without an end, and lets it overlap whatever comes", () => {
    const findings = findingsOf(runsOf([...lines("one", 1n, 0n), ...lines("two", 2n, 50n, 60n)]));
    expect(findings.unended.map(({ run }) => run)).toEqual(["one"]);
    expect(findings.overlaps).toHaveLength(1);
    expect(describeFindings(findings)).toEqual([
      expect.stringMatching(
        /^two runs of "price_feed" at one time: fence 1 .* no end\) and fence 2/,
      ),
      expect.stringMatching(/^a run of "price_feed" never ended: fence 1 of pid 7/),
    ]);
  });

  it("takes the earliest end, so that one written for a killed process counts", () => {
    const late: OracleRecord = { ...facts, kind: "end", run: "one", fence: 1n, at: 90n };
    const runs = runsOf([...lines("one", 1n, 0n, 40n), late, ...lines("two", 2n, 50n, 60n)]);
    expect(findingsOf(runs).overlaps).toEqual([]);
  });
});
