import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  describeFindings,
  findingsOf,
  type OracleRecord,
  type OracleRun,
  readOracle,
  runsOf,
} from "@sole-writer/conformance";
import type { DurableCoordinator } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";
import { type SpawnedProcess, spawnProcess } from "@sole-writer/testbed";
import type { WorkerTask } from "./worker.js";

export interface FaultRunOptions {
  readonly url: string;
  readonly units: number;
  readonly graphs: number;
  readonly replicas: number;
  /** Between two faults, in ms. */
  readonly faultEveryMs: number;
  readonly leaseMs: number;
  /** Called once, when half of the units are done. */
  restartServer(): Promise<void>;
  /** Longest time in ms for all of it. */
  readonly limitMs: number;
  say?(line: string): void;
}

export interface FaultRunReport {
  readonly done: number;
  readonly others: number;
  readonly runs: number;
  readonly kills: number;
  readonly stops: number;
  readonly tookMs: number;
  /** Runs of a process that was stopped for longer than its lease: nobody can tell it in time. */
  readonly excused: number;
  /** Everything that must not be, in sentences. */
  readonly findings: readonly string[];
}

interface Stop {
  readonly pid: number;
  readonly from: bigint;
  readonly to: bigint;
}

const workMs = 12;
const slots = 8;
/** A process that was stopped goes on with the line it stood at; the loss is told in the next turn. */
const wakeMs = 50;
const now = () => process.hrtime.bigint();

/** Units through many replicas, of which one is killed or stopped every few moments. */
export async function faultRun(options: FaultRunOptions): Promise<FaultRunReport> {
  const { url, leaseMs, say = () => undefined } = options;
  const folder = mkdtempSync(join(tmpdir(), "claims-"));
  const oracle = join(folder, "oracle.jsonl");
  writeFileSync(oracle, "");
  const app = "fault-run";
  const replicas: SpawnedProcess[] = [];
  const stops: Stop[] = [];
  const deaths = new Map<number, bigint>();
  const resuming = new Set<Promise<void>>();
  let started = 0;
  let kills = 0;
  const startedAt = performance.now();

  function start(): void {
    started += 1;
    const heartbeatMs = Math.floor(leaseMs / 5);
    const task: WorkerTask = {
      ...{ app, url, oracle, leaseMs, heartbeatMs, slots, workMs },
      label: `replica-${started}`,
    };
    const label = task.label;
    const args = [JSON.stringify(task)];
    replicas.push(
      spawnProcess(new URL("../../dist/claims/worker.js", import.meta.url), { args, label }),
    );
  }

  async function kill(): Promise<void> {
    const [victim] = replicas.splice(Math.floor(Math.random() * replicas.length), 1);
    if (!victim) return;
    kills += 1;
    await victim.kill();
    // Not before it has ended: until then it may write.
    deaths.set(victim.pid, now());
    start();
  }

  function stop(): void {
    const victim = replicas[Math.floor(Math.random() * replicas.length)];
    if (!victim || victim.hasExited) return;
    const from = now();
    victim.stop();
    const resumed = after(Math.random() * 1.5 * leaseMs).then(() => {
      stops.push({ pid: victim.pid, from, to: now() });
      victim.cont();
      resuming.delete(resumed);
    });
    resuming.add(resumed);
  }

  await using coordinator = durableClaim({ app, url, leaseMs });
  try {
    for (let count = 0; count < options.replicas; count += 1) start();
    await submitAll(coordinator, options);
    let restarted = false;
    for (;;) {
      await after(options.faultEveryMs);
      if (Math.random() < 0.5) await kill();
      else stop();
      for (const { hasExited, label, output } of replicas)
        if (hasExited) throw new Error(`${label} ended by itself:\n${output()}`);
      const left = await leftOf(coordinator);
      if (left === undefined) continue;
      if (!restarted && left <= options.units / 2) {
        restarted = true;
        say(`restart with ${left} left`);
        await options.restartServer();
      }
      if (left === 0) break;
      if (performance.now() - startedAt > options.limitMs)
        throw new Error(`${left} units are left after ${options.limitMs} ms`);
    }
    await Promise.all(resuming);
    await Promise.all(replicas.map((replica) => replica.kill("SIGTERM")));
    const states = await statesOf(coordinator);
    const judged = judge(readOracle(oracle), deaths, stops, leaseMs);
    const done = states.get("done") ?? 0;
    const others = [...states.values()].reduce((sum, count) => sum + count, 0) - done;
    const tookMs = Math.round(performance.now() - startedAt);
    return { done, others, kills, stops: stops.length, tookMs, ...judged };
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    rmSync(folder, { recursive: true });
  }
}

async function submitAll(coordinator: DurableCoordinator, { units, graphs }: FaultRunOptions) {
  const all = Array.from({ length: units }, (_, index) => ({
    graph: `graph-${index % graphs}`,
    key: `unit-${index}`,
    payload: { index },
    maxAttempts: 1_000,
  }));
  await coordinator.submitMany(all);
}

/** Unfinished units; undefined while the server is not there. */
async function leftOf(coordinator: DurableCoordinator): Promise<number | undefined> {
  const backlog = await coordinator.backlog().catch(() => undefined);
  return backlog?.reduce((sum, one) => sum + one.due + one.scheduled + one.running, 0);
}

async function statesOf(coordinator: DurableCoordinator): Promise<Map<string, number>> {
  const states = new Map<string, number>();
  for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const page = await coordinator.units({ limit: 1_000, ...(after && { after }) });
    for (const { state } of page.units) states.set(state, (states.get(state) ?? 0) + 1);
    after = page.next;
  }
  return states;
}

function judge(
  records: readonly OracleRecord[],
  deaths: ReadonlyMap<number, bigint>,
  stops: readonly Stop[],
  leaseMs: number,
): Pick<FaultRunReport, "runs" | "excused" | "findings"> {
  const runs = runsOf(records.filter(({ graph }) => graph !== "settled")).map((run): OracleRun => {
    const death = deaths.get(run.pid);
    return run.end === undefined && death !== undefined ? { ...run, end: death } : run;
  });
  const wasFrozen = (run: OracleRun) =>
    stops.some(
      ({ pid, from, to }) =>
        pid === run.pid &&
        // It trusts its lease for a good while less than it lasts.
        Number(to - from) / 1e6 > leaseMs * 0.7 &&
        // Also one that was about to write its first line when it was stopped.
        Number(run.begin - to) / 1e6 < wakeMs &&
        (run.end ?? to) > from,
    );
  const { overlaps, fallingFences, unended } = findingsOf(runs);
  const real = {
    overlaps: overlaps.filter(([a, b]) => !wasFrozen(a) && !wasFrozen(b)),
    fallingFences: fallingFences.filter(([, late]) => !wasFrozen(late)),
    unended,
  };
  const seen = overlaps.length + fallingFences.length;
  const settled = new Map<string, number>();
  for (const { graph, run } of records) {
    const unit = run.split(":")[0] ?? "";
    if (graph === "settled") settled.set(unit, (settled.get(unit) ?? 0) + 1);
  }
  const twice = [...settled].filter(([, count]) => count > 1);
  return {
    runs: runs.length,
    excused: seen - real.overlaps.length - real.fallingFences.length,
    findings: [
      ...describeFindings(real),
      ...twice.map(([unit, count]) => `unit ${unit} was settled ${count} times`),
    ],
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
