import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * One line of the oracle: a work body began or ended. It is written by the work itself, to a file that
 * the coordinator under test does not know.
 */
export interface OracleRecord {
  readonly kind: "begin" | "end";
  /** Applications have graphs of the same name. */
  readonly app: string;
  readonly graph: string;
  readonly fence: bigint;
  readonly pid: number;
  /** Random for each run of a work body. */
  readonly run: string;
  /** `process.hrtime.bigint()`, which all processes of one machine read from one clock. */
  readonly at: bigint;
}

/** Writes to the oracle. Every line is one append, so that processes do not cut into each other's. */
export interface OraclePen {
  write(record: OracleRecord): void;
  close(): void;
}

export function oraclePen(file: string): OraclePen {
  const fd = openSync(file, "a");
  return {
    write: (record) => void writeSync(fd, `${toLine(record)}\n`),
    close: () => closeSync(fd),
  };
}

export function readOracle(file: string): OracleRecord[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map(fromLine);
}

function toLine(record: OracleRecord): string {
  return JSON.stringify({ ...record, fence: String(record.fence), at: String(record.at) });
}

function fromLine(line: string): OracleRecord {
  const read: Omit<OracleRecord, "fence" | "at"> & { fence: string; at: string } = JSON.parse(line);
  return { ...read, fence: BigInt(read.fence), at: BigInt(read.at) };
}
