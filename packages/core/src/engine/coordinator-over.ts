import { type Clock, systemClock } from "../clock.js";
import type { AcquireOptions, CloseOptions, Coordinator } from "../coordinator.js";
import { assertDurationMs } from "../durations.js";
import {
  AcquireAbortedError,
  BackendError,
  CoordinatorClosedError,
  isSoleWriterError,
  type SoleWriterError,
} from "../errors.js";
import { type CoordinatorEvent, type Observer, publish } from "../events.js";
import type { Grant, Holder, Refusal } from "../grant.js";
import { assertGraphName } from "../name.js";
import { refuse } from "../refusal.js";
import type { TakeAnswer, TakeRequest, Term, TermPort } from "../term-port.js";
import { windowIdentity } from "../window.js";
import { type GraphDesk, graphDesk } from "./graph-desk.js";
import { LimitReached, limited } from "./limited.js";
import { type GrantHome, type LiveGrant, liveGrant } from "./live-grant.js";
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

/**
 * Makes a `Coordinator` of a strategy's port: everything that is the same in every strategy.
 * @throws {InvalidOptionError} for a duration that makes no sense.
 */
export function coordinatorOver<T extends Term>(
  port: TermPort<T>,
  options: CoordinatorOptions,
): Coordinator {
  const { holder, onEvent, clock = systemClock() } = options;
  const defaultTimeoutMs = options.acquireTimeoutMs ?? defaultAcquireTimeoutMs;
  assertDurationMs("acquireTimeoutMs", defaultTimeoutMs);
  const releaseTimeoutMs = options.releaseTimeoutMs ?? defaultTimeoutMs;
  assertDurationMs("releaseTimeoutMs", releaseTimeoutMs);

  const where = `${port.strategy} on ${port.backend}`;
  const desk: GraphDesk<T> = graphDesk();
  const closing = new AbortController();
  const loop = renewalLoop(port, clock, () => desk.grants().filter((grant) => grant.isHeld));
  let closed: Promise<void> | undefined;

  const about = (graph: string) => ({
    strategy: port.strategy,
    backend: port.backend,
    graph,
    holder,
  });
  const announce = (event: CoordinatorEvent) => publish(onEvent, event);

  const home: GrantHome<T> = {
    port,
    clock,
    holder,
    releaseTimeoutMs,
    publish: announce,
    renewalRound: () => loop.round(),
    over(grant) {
      desk.leave(grant);
      loop.rest();
    },
  };

  async function acquire(graph: string, asked: AcquireOptions = {}): Promise<Grant | Refusal> {
    assertGraphName(graph);
    const window = asked.window === undefined ? undefined : windowIdentity(asked.window);
    const timeoutMs = asked.acquireTimeoutMs ?? defaultTimeoutMs;
    assertDurationMs("acquireTimeoutMs", timeoutMs);
    if (asked.minIntervalMs !== undefined) assertDurationMs("minIntervalMs", asked.minIntervalMs);
    const startedAt = clock.now();
    const tookMs = () => clock.now() - startedAt;

    try {
      if (closing.signal.aborted) throw closedError(graph);
      if (asked.signal?.aborted) throw abortedError(graph, asked.signal);
      const limits = { timeoutMs, signals: [asked.signal, closing.signal] };
      const turn = await limited(clock, limits, (signal) => desk.enter(graph, signal), leaveLate);
      if ("heldBy" in turn) return refused(refuseOwn(turn.heldBy), tookMs());
      const leftMs = Math.max(timeoutMs - tookMs(), 1);
      let live: LiveGrant<T> | undefined;
      try {
        const answer = await take({ ...asked, timeoutMs: leftMs }, graph, window);
        if (!answer.taken) {
          const { taken: _, ...facts } = answer;
          const id = window?.id;
          return refused(
            refuse({ graph, ...facts, ...(id !== undefined && { window: id }) }),
            tookMs(),
          );
        }
        live = answer.live;
      } finally {
        turn.leave(live);
      }
      loop.wake();
      announce({ ...about(graph), type: "granted", fence: live.term.fence, tookMs: tookMs() });
      return live.grant;
    } catch (cause) {
      const error = acquireFailure(cause, graph, timeoutMs, asked.signal);
      announce({ ...about(graph), type: "acquire-failed", error, tookMs: tookMs() });
      throw error;
    }
  }

  type Taken =
    | Exclude<TakeAnswer<T>, { taken: true }>
    | { readonly taken: true; readonly live: LiveGrant<T> };

  async function take(
    asked: AcquireOptions & { readonly timeoutMs: number },
    graph: string,
    window: TakeRequest["window"],
  ): Promise<Taken> {
    const { timeoutMs, minIntervalMs } = asked;
    let sentAt = clock.now();
    let live: LiveGrant<T> | undefined;
    let endedEarly: { readonly cause: unknown } | undefined;
    const answer = await limited(
      clock,
      { timeoutMs, signals: [asked.signal, closing.signal] },
      (signal) =>
        port.take({
          graph,
          ...(window && { window }),
          ...(minIntervalMs !== undefined && { minIntervalMs }),
          signal,
          timeoutMs,
          sending() {
            sentAt = clock.now();
          },
          ended(cause) {
            if (!live) endedEarly = { cause };
            else if (live.isHeld) live.lose("session-ended", cause);
          },
        }),
      (straggler) => desk.clean(graph, handBackLate(straggler)),
    );
    if (!answer.taken) return answer;
    live = liveGrant(home, answer.term, sentAt, window);
    if (endedEarly) live.lose("session-ended", endedEarly.cause);
    try {
      live.grant.assertHeld();
    } catch (cause) {
      desk.clean(
        graph,
        live.grant
          .settle({ kind: "handed-back", reason: "answered too late" })
          .catch(() => undefined),
      );
      throw new BackendError(
        "BACKEND_TIMEOUT",
        `Could not hold "${graph}" (${where}): the answer came when the grant was already over. Nothing was run; ask again.`,
        { cause },
      );
    }
    return { taken: true, live };
  }

  /** The caller has gone; what arrives now is released before anybody may ask for the graph again. */
  async function handBackLate(straggler: Promise<TakeAnswer<T>>): Promise<void> {
    const answer = await straggler.catch(() => undefined);
    if (!answer?.taken) return;
    const ending = { kind: "handed-back", reason: "nobody waited for the grant any more" } as const;
    try {
      await limited(clock, { timeoutMs: releaseTimeoutMs }, (signal) =>
        port.settle(answer.term, ending, undefined, signal),
      );
    } catch {
      port.abandon(answer.term);
    }
  }

  function refused(refusal: Refusal, tookMs: number): Refusal {
    announce({ ...about(refusal.graph), type: "refused", refusal, tookMs });
    return refusal;
  }

  function refuseOwn(own: LiveGrant<T>): Refusal {
    const { graph, holder: self } = own.grant;
    if (own.isLost)
      return refuse(
        { graph, reason: "held" },
        `"${graph}" was lost by this process, and its earlier run has not settled yet; who holds it now cannot be known.`,
      );
    return refuse(
      { graph, reason: "held", holder: self },
      `"${graph}" is held by this process (${self.label}, fence ${own.term.fence}).`,
    );
  }

  function closedError(graph: string): CoordinatorClosedError {
    return new CoordinatorClosedError(
      `Cannot acquire "${graph}": this coordinator (${where}, ${holder.label}) is closed.`,
    );
  }

  function abortedError(graph: string, signal: AbortSignal | undefined): AcquireAbortedError {
    return new AcquireAbortedError(
      `The acquire of "${graph}" (${where}) was given up by its caller; nothing was left behind.`,
      {
        cause: signal?.reason,
      },
    );
  }

  function acquireFailure(
    cause: unknown,
    graph: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): SoleWriterError {
    if (isSoleWriterError(cause)) return cause;
    if (cause instanceof LimitReached && cause.why === "aborted")
      return closing.signal.aborted ? closedError(graph) : abortedError(graph, signal);
    if (cause instanceof LimitReached)
      return new BackendError(
        "BACKEND_TIMEOUT",
        `Could not ask for "${graph}" (${where}): no answer within acquireTimeoutMs ${timeoutMs}. Nothing was run. Look whether ${port.backend} is up and reachable.`,
      );
    return new BackendError(
      "BACKEND_FAULT",
      `Could not ask for "${graph}" (${where}): ${cause instanceof Error ? cause.message : String(cause)}. Nothing was run.`,
      { cause },
    );
  }

  async function inspect(graph?: string) {
    if (graph !== undefined) assertGraphName(graph);
    if (closing.signal.aborted)
      throw new CoordinatorClosedError(
        `Cannot inspect: this coordinator (${where}, ${holder.label}) is closed.`,
      );
    try {
      return await limited(clock, { timeoutMs: defaultTimeoutMs }, (signal) =>
        port.read(graph, signal),
      );
    } catch (cause) {
      if (isSoleWriterError(cause)) throw cause;
      throw new BackendError(
        cause instanceof LimitReached ? "BACKEND_TIMEOUT" : "BACKEND_FAULT",
        `Could not read who holds what (${where}): ${cause instanceof Error ? cause.message : String(cause)}.`,
        { cause },
      );
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    closing.abort();
    for (const grant of desk.grants()) grant.drain();
    await limited(clock, { timeoutMs: graceMs }, () => desk.settled()).catch(() => undefined);
    for (const grant of desk.grants()) {
      grant.lose("closed");
      port.abandon(grant.term);
    }
    await limited(clock, { timeoutMs: releaseTimeoutMs }, () => desk.cleaned()).catch(
      () => undefined,
    );
    loop.stop();
    await port.close();
  }

  const coordinator: Coordinator = {
    strategy: port.strategy,
    backend: port.backend,
    guarantees: port.guarantees,
    holder,
    acquire,
    inspect,
    preflight: () => port.prove(),
    close({ graceMs = defaultGraceMs }: CloseOptions = {}) {
      assertDurationMs("graceMs", graceMs, 0);
      closed ??= shutDown(graceMs);
      return closed;
    },
    [Symbol.asyncDispose]: () => coordinator.close(),
  };
  return coordinator;
}

/** A turn that was given after its caller had gone is given back. */
function leaveLate<T extends Term>(straggler: ReturnType<GraphDesk<T>["enter"]>): void {
  straggler.then(
    (turn) => "leave" in turn && turn.leave(undefined),
    () => undefined,
  );
}
