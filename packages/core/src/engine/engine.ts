import { type Clock, systemClock } from "../clock.js";
import type { CloseOptions, Coordinator } from "../coordinator.js";
import { assertDurationMs } from "../durations.js";
import { CoordinatorClosedError, isSoleWriterError } from "../errors.js";
import { type Observer, publish } from "../events.js";
import type { Holder } from "../grant.js";
import { assertGraphName } from "../name.js";
import type { Term, TermPort } from "../term-port.js";
import { type AcquireHome, acquireAt } from "./acquire.js";
import { backendFailure } from "./faults.js";
import { graphDesk } from "./graph-desk.js";
import { limited } from "./limited.js";
import type { GrantHome } from "./live-grant.js";
import { renewalLoop } from "./renewal-loop.js";

export interface CoordinatorOptions {
  /** From `newHolder`, so that the port and the coordinator give the same name. */
  readonly holder: Holder;
  /** Longest time in ms to wait for the answer to an acquire. Default 5,000. */
  readonly acquireTimeoutMs?: number;
  /** Longest time in ms to wait for the answer to a release. Default: `acquireTimeoutMs`. */
  readonly releaseTimeoutMs?: number;
  readonly onEvent?: Observer;
  readonly clock?: Clock;
}

const defaultAcquireTimeoutMs = 5_000;
const defaultGraceMs = 10_000;

/** A coordinator with what its further methods stand on. */
export interface Engine<T extends Term> {
  readonly coordinator: Coordinator;
  readonly at: AcquireHome<T>;
  /**
   * Puts a question to the backend unless the coordinator is closed, and makes a typed error of whatever
   * it throws. `action` in words for the message: `read who holds what`.
   */
  askOpen<R>(action: string, question: () => Promise<R>): Promise<R>;
}

/**
 * Everything that is the same in every strategy.
 * @param exclusive what has one writer at a time
 */
export function openEngine<T extends Term>(
  port: TermPort<T>,
  options: CoordinatorOptions,
  exclusive: "graph" | "unit" = "graph",
): Engine<T> {
  const { holder, onEvent, clock = systemClock() } = options;
  const acquireTimeoutMs = options.acquireTimeoutMs ?? defaultAcquireTimeoutMs;
  assertDurationMs("acquireTimeoutMs", acquireTimeoutMs);
  const releaseTimeoutMs = options.releaseTimeoutMs ?? acquireTimeoutMs;
  assertDurationMs("releaseTimeoutMs", releaseTimeoutMs);

  const where = `${port.strategy} on ${port.backend}`;
  const desk = graphDesk<T>(exclusive);
  const closing = new AbortController();
  const hurry = new AbortController();
  const loop = renewalLoop(port, clock, () => desk.grants().filter((grant) => grant.isHeld));
  let closed: Promise<void> | undefined;

  const home: GrantHome<T> = {
    port,
    clock,
    holder,
    releaseTimeoutMs,
    publish: (event) => publish(onEvent, event),
    renewalRound: loop.round,
    over(grant) {
      desk.leave(grant);
      if (desk.isIdle) loop.rest();
    },
  };

  async function askOpen<R>(action: string, question: () => Promise<R>): Promise<R> {
    if (closing.signal.aborted)
      throw new CoordinatorClosedError(
        `Cannot ${action}: this coordinator (${where}, ${holder.label}) is closed.`,
      );
    try {
      return await question();
    } catch (cause) {
      if (isSoleWriterError(cause)) throw cause;
      throw backendFailure(cause, {
        what: `Could not ${action} (${where})`,
        limit: `acquireTimeoutMs ${acquireTimeoutMs}`,
        advice: `Look whether ${port.backend} is up and reachable.`,
      });
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    closing.abort();
    for (const grant of desk.grants()) grant.drain();
    await atMost(graceMs, () => desk.settled(), hurry.signal);
    for (const grant of desk.grants()) grant.cutOff();
    await atMost(releaseTimeoutMs, () => desk.cleaned());
    loop.stop();
    await atMost(releaseTimeoutMs, () => port.close());
  }

  /** Whatever is still not done then ends without us. */
  async function atMost(timeoutMs: number, wait: () => Promise<void>, cut?: AbortSignal) {
    await limited(clock, { timeoutMs, signals: [cut] }, wait).catch(() => undefined);
  }

  const at: AcquireHome<T> = {
    home,
    desk,
    closing: closing.signal,
    acquireTimeoutMs,
    granted: loop.wake,
  };
  const coordinator: Coordinator = {
    strategy: port.strategy,
    backend: port.backend,
    guarantees: port.guarantees,
    holder,
    acquire: acquireAt(at),
    async inspect(graph) {
      if (graph !== undefined) assertGraphName(graph);
      return askOpen("read who holds what", () =>
        limited(clock, { timeoutMs: acquireTimeoutMs }, (signal) => port.read(graph, signal)),
      );
    },
    preflight: () => askOpen("prove exclusion", () => port.prove()),
    close({ graceMs }: CloseOptions = {}) {
      if (graceMs !== undefined) assertDurationMs("graceMs", graceMs, 0);
      if (closed && graceMs !== undefined) {
        const cancel = clock.after(graceMs, () => hurry.abort());
        void closed.then(cancel);
      }
      closed ??= shutDown(graceMs ?? defaultGraceMs);
      return closed;
    },
    [Symbol.asyncDispose]: () => coordinator.close(),
  };
  return { coordinator, at, askOpen };
}
