import type { OracleRecord } from "./record.js";

/** A work body from its first line to its last. */
export interface OracleRun {
  readonly app: string;
  readonly graph: string;
  readonly fence: bigint;
  readonly pid: number;
  readonly run: string;
  readonly begin: bigint;
  /** Absent when the body never ended, or has not yet. */
  readonly end?: bigint;
}

/** What the oracle saw that must not be. */
export interface OracleFindings {
  /** Two runs of one graph at one time. */
  readonly overlaps: readonly (readonly [OracleRun, OracleRun])[];
  /** A run began with a fence that is not larger than that of a run before it. */
  readonly fallingFences: readonly (readonly [OracleRun, OracleRun])[];
  /** Runs without an end. */
  readonly unended: readonly OracleRun[];
}

/** Puts the lines of the oracle together, in the order in which the runs began. */
export function runsOf(records: readonly OracleRecord[]): OracleRun[] {
  const ends = new Map<string, bigint>();
  for (const { kind, run, at } of records) {
    if (kind !== "end") continue;
    const known = ends.get(run);
    if (known === undefined || at < known) ends.set(run, at);
  }
  return records
    .filter(({ kind }) => kind === "begin")
    .map(({ app, graph, fence, pid, run, at }) => {
      const end = ends.get(run);
      return { app, graph, fence, pid, run, begin: at, ...(end !== undefined && { end }) };
    })
    .sort((a, b) => compare(a.begin, b.begin));
}

/**
 * Looks for what must not be. A run without an end overlaps everything after it: when its process was
 * killed, write the end for it, with the time of the kill.
 */
export function findingsOf(runs: readonly OracleRun[]): OracleFindings {
  const overlaps: [OracleRun, OracleRun][] = [];
  const fallingFences: [OracleRun, OracleRun][] = [];
  for (const ofGraph of byGraph(runs)) {
    let open: OracleRun[] = [];
    let highest: OracleRun | undefined;
    for (const run of ofGraph) {
      open = open.filter(({ end }) => end === undefined || end > run.begin);
      for (const before of open) overlaps.push([before, run]);
      open.push(run);
      if (highest && run.fence <= highest.fence) fallingFences.push([highest, run]);
      if (!highest || run.fence > highest.fence) highest = run;
    }
  }
  return { overlaps, fallingFences, unended: runs.filter(({ end }) => end === undefined) };
}

/** One sentence for each finding. */
export function describeFindings(findings: OracleFindings): string[] {
  return [
    ...findings.overlaps.map(
      ([a, b]) => `two runs of "${a.graph}" at one time: ${shown(a)} and ${shown(b)}`,
    ),
    ...findings.fallingFences.map(
      ([a, b]) => `the fence of "${a.graph}" did not rise: ${shown(a)} and then ${shown(b)}`,
    ),
    ...findings.unended.map((run) => `a run of "${run.graph}" never ended: ${shown(run)}`),
  ];
}

function shown({ fence, pid, begin, end }: OracleRun): string {
  const ms = (at: bigint) => (Number(at / 1_000n) / 1_000).toFixed(3);
  const until = end === undefined ? "no end" : `${ms(end)} ms`;
  return `fence ${fence} of pid ${pid} (${ms(begin)} ms to ${until})`;
}

function byGraph(runs: readonly OracleRun[]): Iterable<OracleRun[]> {
  const found = new Map<string, OracleRun[]>();
  for (const run of [...runs].sort((a, b) => compare(a.begin, b.begin))) {
    const key = JSON.stringify([run.app, run.graph]);
    const known = found.get(key);
    if (known) known.push(run);
    else found.set(key, [run]);
  }
  return found.values();
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
