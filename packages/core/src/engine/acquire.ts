import type { AcquireOptions, Coordinator } from "../coordinator.js";
import { assertDurationMs } from "../durations.js";
import {
  AcquireAbortedError,
  CoordinatorClosedError,
  InvalidOptionError,
  isSoleWriterError,
  type SoleWriterError,
} from "../errors.js";
import type { Grant, Refusal } from "../grant.js";
import { assertGraphName } from "../name.js";
import { refuse } from "../refusal.js";
import type { TakeAnswer, TakeRequest, Term } from "../term-port.js";
import { trustWindow } from "../trust-window.js";
import { windowIdentity } from "../window.js";
import { shown } from "../words.js";
import { backendFailure } from "./faults.js";
import type { GraphDesk, Turn } from "./graph-desk.js";
import { handBack, tooLate } from "./hand-back.js";
import { LimitReached, limited } from "./limited.js";
import { type GrantHome, type LiveGrant, lifeOf, liveGrant } from "./live-grant.js";

/** What an acquire needs to know of its coordinator. */
export interface AcquireHome<T extends Term> {
  readonly home: GrantHome<T>;
  readonly desk: GraphDesk<T>;
  /** Aborts when the coordinator begins to close. */
  readonly closing: AbortSignal;
  readonly acquireTimeoutMs: number;
  /** There is a grant to keep alive from now on. */
  granted(): void;
}

/** An `AcquireOptions` that was checked. */
interface Question {
  readonly startedAt: number;
  readonly graph: string;
  readonly asks: Pick<TakeRequest, "window" | "minIntervalMs">;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * The way from a question to a grant or a refusal:
 *
 *     checked ──▶ a turn at the desk ──▶ port.take ──▶ granted | refused
 *                                            └── nobody waits any more, or it came too late ──▶ handed back
 */
export function acquireAt<T extends Term>(at: AcquireHome<T>): Coordinator["acquire"] {
  const { home, desk, closing } = at;
  const { port, clock, holder } = home;
  const where = `${port.strategy} on ${port.backend}`;

  function checked(graph: unknown, asked: AcquireOptions): Question {
    assertGraphName(graph);
    const { window, minIntervalMs, signal, acquireTimeoutMs = at.acquireTimeoutMs } = asked;
    assertDurationMs("acquireTimeoutMs", acquireTimeoutMs);
    if (minIntervalMs !== undefined) assertDurationMs("minIntervalMs", minIntervalMs);
    if (signal !== undefined && typeof signal?.addEventListener !== "function")
      throw new InvalidOptionError(`signal must be an AbortSignal, not ${shown(signal)}.`);
    const asks = {
      ...(window !== undefined && { window: windowIdentity(window) }),
      ...(minIntervalMs !== undefined && { minIntervalMs }),
    };
    return { startedAt: clock.now(), graph, asks, signal, timeoutMs: acquireTimeoutMs };
  }

  function factsOf({ graph, startedAt }: Question) {
    const { strategy, backend } = port;
    return { strategy, backend, graph, holder, tookMs: clock.now() - startedAt };
  }

  async function acquire(graph: string, asked: AcquireOptions = {}): Promise<Grant | Refusal> {
    const question = checked(graph, asked);
    try {
      const answer = await ask(question);
      if (!answer.granted) home.publish({ ...factsOf(question), type: "refused", refusal: answer });
      return answer;
    } catch (cause) {
      const error = failure(cause, question);
      home.publish({ ...factsOf(question), type: "acquire-failed", error });
      throw error;
    }
  }

  async function ask(question: Question): Promise<Grant | Refusal> {
    const { graph, asks, timeoutMs, startedAt } = question;
    const signals = [question.signal, closing];
    if (isGivenUp(question)) throw new LimitReached("aborted");
    const turn = await limited(
      clock,
      { timeoutMs, signals },
      (signal) => desk.enter(graph, signal),
      leaveLate,
    );
    if ("heldBy" in turn) return refuseOwn(turn.heldBy);

    const leftMs = Math.max(Math.floor(timeoutMs - (clock.now() - startedAt)), 1);
    let sentAt = clock.now();
    let live: LiveGrant<T> | undefined;
    let endedEarly: { readonly cause: unknown } | undefined;
    try {
      const answer = await limited(
        clock,
        { timeoutMs: leftMs, signals },
        (signal) =>
          port.take({
            graph,
            ...asks,
            signal,
            timeoutMs: leftMs,
            sending() {
              sentAt = clock.now();
            },
            ended(cause) {
              if (live) live.lose("session-ended", cause);
              else endedEarly = { cause };
            },
          }),
        (straggler) => desk.clean(graph, handBackLate(straggler)),
      );
      if (!answer.taken) return refuseAs(answer, question);

      // From here on nothing is awaited: `close` must find the grant at the desk, and `granted` must be
      // published before `lost` can be.
      const { term } = answer;
      try {
        if (isGivenUp(question)) throw new LimitReached("aborted");
        if (endedEarly) throw tooLate("BACKEND_LOST", graph, where, endedEarly.cause);
        if (trustWindow(clock, lifeOf(port, term), sentAt).leftMs() <= 0)
          throw tooLate("BACKEND_TIMEOUT", graph, where);
      } catch (reason) {
        desk.clean(graph, handBack(home, term, "its answer came too late"));
        throw reason;
      }
      live = liveGrant(home, term, sentAt, asks.window);
    } finally {
      turn.leave(live);
    }
    at.granted();
    home.publish({ ...factsOf(question), type: "granted", fence: live.term.fence });
    return live.grant;
  }

  function isGivenUp({ signal }: Question): boolean {
    return closing.aborted || signal?.aborted === true;
  }

  /** The caller has gone; what arrives now is released before anybody may ask for the graph again. */
  async function handBackLate(straggler: Promise<TakeAnswer<T>>): Promise<void> {
    const answer = await straggler.catch(() => undefined);
    if (answer?.taken) await handBack(home, answer.term, "nobody waited for the grant any more");
  }

  function refuseAs(
    answer: Exclude<TakeAnswer<T>, { taken: true }>,
    { graph, asks }: Question,
  ): Refusal {
    const { taken: _, ...facts } = answer;
    return refuse({ graph, ...facts, ...(asks.window && { window: asks.window.id }) });
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

  function failure(cause: unknown, { graph, signal, timeoutMs }: Question): SoleWriterError {
    if (isSoleWriterError(cause)) return cause;
    if (cause instanceof LimitReached && cause.why === "aborted")
      return closing.aborted
        ? new CoordinatorClosedError(
            `Cannot acquire "${graph}": this coordinator (${where}, ${holder.label}) is closed.`,
          )
        : new AcquireAbortedError(
            `The acquire of "${graph}" (${where}) was given up by its caller; nothing is left behind.`,
            { cause: signal?.reason },
          );
    return backendFailure(cause, {
      what: `Could not ask for "${graph}" (${where})`,
      limit: `acquireTimeoutMs ${timeoutMs}`,
      advice: `Nothing was run. Look whether ${port.backend} is up and reachable.`,
    });
  }

  return acquire;
}

/** A turn that was given after its caller had gone is given back. */
function leaveLate<T extends Term>(
  straggler: Promise<Turn<T> | { readonly heldBy: LiveGrant<T> }>,
): void {
  straggler.then(
    (turn) => "leave" in turn && turn.leave(undefined),
    () => undefined,
  );
}
