/** A replica of the fault run: claims whatever is due, works on it for a moment, and settles it. */
import { randomUUID } from "node:crypto";
import { oraclePen } from "@sole-writer/conformance";
import { type Grant, isBackendError, isGrantLost } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";

/** The first argument, as JSON. */
export interface WorkerTask {
  readonly app: string;
  readonly url: string;
  readonly label: string;
  readonly oracle: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly slots: number;
  /** Longest time in ms for one unit. */
  readonly workMs: number;
}

const task: WorkerTask = JSON.parse(process.argv[2] ?? "");
const { app, url, label, leaseMs, heartbeatMs } = task;
const pen = oraclePen(task.oracle);
const coordinator = durableClaim({ app, url, label, leaseMs, heartbeatMs, pollMs: 200 });
const running = new Set<Promise<void>>();
let stopping = false;

async function work(grant: Grant): Promise<void> {
  try {
    // The process may have stood still since the claim was answered.
    grant.assertHeld();
  } catch {
    await grant[Symbol.asyncDispose]();
    return;
  }
  const { graph, fence, unit } = grant;
  const facts = { app, graph, fence, pid: process.pid, run: `${unit?.id}:${randomUUID()}` };
  const now = () => process.hrtime.bigint();
  pen.write({ ...facts, kind: "begin", at: now() });
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.random() * task.workMs);
    grant.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
  pen.write({ ...facts, kind: "end", at: now() });
  try {
    await grant.settle({ kind: "done" });
    pen.write({ ...facts, kind: "begin", graph: "settled", at: now() });
  } catch (error) {
    if (!isGrantLost(error) && !isBackendError(error)) throw error;
  }
}

async function round(): Promise<void> {
  const free = task.slots - running.size;
  const grants = free > 0 ? await coordinator.claim({ limit: free }) : [];
  for (const grant of grants) {
    const done: Promise<void> = work(grant).finally(() => running.delete(done));
    running.add(done);
  }
  if (running.size > 0) await Promise.race(running);
  else if (grants.length === 0) await coordinator.whenDue();
}

process.on("SIGTERM", () => {
  stopping = true;
  void coordinator.close().then(() => pen.close());
});
process.send?.("ready");
while (!stopping) {
  try {
    await round();
  } catch (error) {
    // What the server does not answer is asked again, at the pace that whenDue sets.
    if (!isBackendError(error) && !stopping) throw error;
    await coordinator.whenDue();
  }
}
