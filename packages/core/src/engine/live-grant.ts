import type { Clock } from "../clock.js";
import { BackendError, GrantLostError, isBackendError, type LossReason } from "../errors.js";
import type { CoordinatorEvent } from "../events.js";
import type { Ending, Grant, Holder } from "../grant.js";
import type { Renewal, Term, TermPort } from "../term-port.js";
import { trustWindow } from "../trust-window.js";
import type { WindowIdentity } from "../window.js";
import { LimitReached, limited } from "./limited.js";

/** What a grant needs to know of the coordinator that gave it. */
export interface GrantHome<T extends Term> {
  readonly port: TermPort<T>;
  readonly clock: Clock;
  readonly holder: Holder;
  readonly releaseTimeoutMs: number;
  publish(event: CoordinatorEvent): void;
  /** Asks the backend about every live term, or joins the round under way. */
  renewalRound(): Promise<void>;
  /** The grant is settled, and whatever was held is let go. */
  over(grant: LiveGrant<T>): void;
}

/** A grant from the inside: what its coordinator may do to it. */
export interface LiveGrant<T extends Term> {
  readonly term: T;
  readonly grant: Grant;
  /** Lost, but the work under it has not settled yet. */
  readonly isLost: boolean;
  /** True until it is settled or lost: worth a renewal. */
  readonly isHeld: boolean;
  /** Takes the answer to a renewal whose request was sent at `sentAt`. */
  renewed(renewal: Renewal, sentAt: number): void;
  lose(reason: LossReason, cause?: unknown): GrantLostError;
  drain(): void;
}

/** Turns a term that was just taken into a grant, and watches over it. */
export function liveGrant<T extends Term>(
  home: GrantHome<T>,
  term: T,
  sentAt: number,
  window: WindowIdentity | undefined,
): LiveGrant<T> {
  const { port, clock } = home;
  const life = { ...port.life, ttlMs: term.ttlMs ?? port.life.ttlMs };
  const trust = trustWindow(clock, life, sentAt);
  const grantedAt = clock.now();
  const loss = new AbortController();
  const drain = new AbortController();
  const facts = {
    strategy: port.strategy,
    backend: port.backend,
    graph: term.graph,
    holder: home.holder,
  };
  const { fence } = term;

  let lostError: GrantLostError | undefined;
  let ending: Ending | undefined;
  let settlement: Promise<void> | undefined;
  let stopWatching = clock.after(trust.leftMs(), windowOver);

  const isHeld = () => lostError === undefined && settlement === undefined;

  function lossError(reason: LossReason, detail: string, cause?: unknown): GrantLostError {
    const where = `${port.strategy} on ${port.backend}`;
    return new GrantLostError(
      { graph: term.graph, fence, reason, where, detail },
      cause === undefined ? undefined : { cause },
    );
  }

  function lose(reason: LossReason, cause?: unknown): GrantLostError {
    if (lostError) return lostError;
    stopWatching();
    lostError = lossError(reason, describeLoss(reason, trust.sinceGoodMs(), life, cause), cause);
    home.publish({ ...facts, type: "lost", fence, error: lostError });
    loss.abort(lostError);
    return lostError;
  }

  async function windowOver(): Promise<void> {
    const leftMs = trust.leftMs();
    if (leftMs > 0) {
      stopWatching = clock.after(leftMs, windowOver);
      return;
    }
    if (life.kind === "session") {
      // The event loop stood still. The session may have lived on, so ask it; the answer to a request
      // from before the stall proves nothing, hence the second round.
      await home.renewalRound();
      if (isHeld() && trust.leftMs() <= 0) await home.renewalRound();
      if (!isHeld()) return;
      if (trust.leftMs() > 0) return windowOver();
    }
    if (isHeld()) lose("unconfirmed");
  }

  function renewed(renewal: Renewal, renewalSentAt: number): void {
    if (!isHeld()) return;
    const tookMs = clock.now() - renewalSentAt;
    if (renewal.state === "held") {
      trust.extend(renewalSentAt);
      home.publish({ ...facts, type: "renewed", fence, tookMs });
    } else if (renewal.state === "gone") {
      lose(life.kind === "session" ? "session-ended" : "replaced", renewal.cause);
    } else {
      home.publish({ ...facts, type: "renewal-failed", fence, error: renewal.cause });
    }
  }

  async function release(how: Ending): Promise<void> {
    stopWatching();
    const limits = { timeoutMs: home.releaseTimeoutMs };
    try {
      if (lostError) throw lostError;
      const answer = await limited(clock, limits, (signal) =>
        port.settle(term, how, window, signal),
      );
      if (answer === "gone") throw lose(life.kind === "session" ? "session-ended" : "replaced");
      home.publish({
        ...facts,
        type: "settled",
        fence,
        ending: how,
        heldMs: clock.now() - grantedAt,
      });
    } catch (error) {
      port.abandon(term);
      if (error === lostError) throw error;
      const failure = releaseFailure(error, term.graph, home);
      home.publish({ ...facts, type: "settle-failed", fence, ending: how, error: failure });
      throw failure;
    } finally {
      home.over(live);
    }
  }

  function assertHeld(): void {
    if (lostError) throw lostError;
    if (settlement) throw lossError("settled", "it was settled before");
    if (trust.leftMs() <= 0) throw lose("unconfirmed");
  }

  async function confirmHeld(): Promise<void> {
    if (!isHeld()) return assertHeld();
    const askedAt = clock.now();
    let answer: Renewal | undefined;
    try {
      [answer] = await limited(clock, { timeoutMs: life.renewTimeoutMs }, (signal) =>
        port.renew([term], signal),
      );
    } catch (cause) {
      answer = { state: "unknown", cause };
    }
    if (answer) renewed(answer, askedAt);
    if (!isHeld()) return assertHeld();
    if (answer?.state !== "held")
      throw new BackendError(
        "BACKEND_TIMEOUT",
        `Could not confirm the grant on "${term.graph}" (${port.strategy} on ${port.backend}): ${port.backend} did not say. It is not lost by that alone; ask again, or stop.`,
        { cause: answer?.cause },
      );
  }

  const grant: Grant = {
    granted: true,
    graph: term.graph,
    holder: { ...home.holder, since: term.since, fence },
    fence,
    ...(term.unit && { unit: term.unit }),
    signal: loss.signal,
    draining: drain.signal,
    get ending() {
      return ending;
    },
    assertHeld,
    confirmHeld,
    settle(how) {
      if (!settlement) {
        ending = how;
        settlement = release(how);
      }
      return settlement;
    },
    async [Symbol.asyncDispose]() {
      if (settlement) await settlement.catch(() => undefined);
      else await grant.settle({ kind: "handed-back", reason: "disposed without an ending" });
    },
  };

  const live: LiveGrant<T> = {
    term,
    grant,
    get isLost() {
      return lostError !== undefined;
    },
    get isHeld() {
      return isHeld();
    },
    renewed,
    lose,
    drain: () => drain.abort(),
  };
  return live;
}

function describeLoss(
  reason: LossReason,
  sinceGoodMs: number,
  life: { readonly kind: string; readonly ttlMs: number; readonly safetyMarginMs: number },
  cause: unknown,
): string {
  const ago = `last confirmed ${Math.round(sinceGoodMs).toLocaleString("en-US")} ms ago`;
  const why = cause instanceof Error ? `: ${cause.message.replace(/\.$/, "")}` : "";
  switch (reason) {
    case "replaced":
      return `the backend says it is no longer ours (${ago})${why}`;
    case "session-ended":
      return `the session that carried it is over (${ago})${why}`;
    case "closed":
      return "its coordinator was closed before the work had settled";
    default:
      return `${ago}, ttlMs ${life.ttlMs.toLocaleString("en-US")}, safetyMarginMs ${life.safetyMarginMs.toLocaleString("en-US")}`;
  }
}

function releaseFailure<T extends Term>(
  error: unknown,
  graph: string,
  home: GrantHome<T>,
): BackendError {
  if (isBackendError(error)) return error;
  const { port, releaseTimeoutMs } = home;
  const where = `${port.strategy} on ${port.backend}`;
  if (error instanceof LimitReached)
    return new BackendError(
      "BACKEND_TIMEOUT",
      `Could not release "${graph}" (${where}): no answer within ${releaseTimeoutMs} ms. The ending may not be recorded; what is held ends by itself.`,
    );
  return new BackendError(
    "BACKEND_FAULT",
    `Could not release "${graph}" (${where}): ${error instanceof Error ? error.message : String(error)}. The ending may not be recorded; what is held ends by itself.`,
    { cause: error },
  );
}
