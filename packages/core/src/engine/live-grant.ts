import type { Clock } from "../clock.js";
import { GrantLostError, type LossReason } from "../errors.js";
import type { CoordinatorEvent } from "../events.js";
import type { Ending, Grant, Holder } from "../grant.js";
import type { Renewal, Term, TermLife, TermPort } from "../term-port.js";
import { trustWindow } from "../trust-window.js";
import type { WindowIdentity } from "../window.js";
import { askAlive } from "./ask-alive.js";
import { describeLoss } from "./describe-loss.js";
import { backendFailure } from "./faults.js";
import { limited } from "./limited.js";

/** What a grant needs to know of the coordinator that gave it. */
export interface GrantHome<T extends Term> {
  readonly port: TermPort<T>;
  readonly clock: Clock;
  readonly holder: Holder;
  readonly releaseTimeoutMs: number;
  publish(event: CoordinatorEvent): void;
  /** Asks the backend about every live term, in a request sent at `sentSince` or later. */
  renewalRound(sentSince: number): Promise<void>;
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
  /** The release under way or done; never rejects. Undefined until `settle` is called. */
  readonly released: Promise<void> | undefined;
  /** Takes the answer to a renewal. */
  renewed(renewal: Renewal, request: { readonly sentAt: number; readonly tookMs: number }): void;
  /** Ends a grant that is held; one that is settled or lost stays what it is. */
  lose(reason: LossReason, cause?: unknown): void;
  drain(): void;
  /** The grace period is over: lost, unless its release is under way. */
  cutOff(): void;
}

/** The life of a term, in which the backend may have the last word on the length. */
export function lifeOf<T extends Term>(port: TermPort<T>, term: T): TermLife {
  return { ...port.life, ttlMs: term.ttlMs ?? port.life.ttlMs };
}

/** Turns a term that was just taken into a grant, and watches over it. */
export function liveGrant<T extends Term>(
  home: GrantHome<T>,
  term: T,
  sentAt: number,
  window: WindowIdentity | undefined,
): LiveGrant<T> {
  const { port, clock } = home;
  const { graph, fence } = term;
  const where = `${port.strategy} on ${port.backend}`;
  const life = lifeOf(port, term);
  const replaced = life.kind === "session" ? "session-ended" : "replaced";
  const trust = trustWindow(clock, life, sentAt);
  const grantedAt = clock.now();
  const loss = new AbortController();
  const drain = new AbortController();
  const facts = {
    strategy: port.strategy,
    backend: port.backend,
    graph,
    holder: home.holder,
    fence,
  };

  let lostError: GrantLostError | undefined;
  /** What the last renewal failed with, since the last good one. */
  let lastFailure: unknown;
  let ending: Ending | undefined;
  let settlement: Promise<void> | undefined;
  let abandoned = false;
  let stopWatching = clock.after(trust.leftMs(), windowOver);

  const isHeld = () => lostError === undefined && ending === undefined;

  function lossError(reason: LossReason, detail: string, cause?: unknown): GrantLostError {
    return new GrantLostError(
      { graph, fence, reason, where, detail },
      cause === undefined ? undefined : { cause },
    );
  }

  function lost(reason: LossReason, cause?: unknown): GrantLostError {
    if (lostError) return lostError;
    stopWatching();
    lostError = lossError(reason, describeLoss(reason, trust.sinceGoodMs(), life, cause), cause);
    // The work is told before anybody who only watches.
    loss.abort(lostError);
    home.publish({ ...facts, type: "lost", error: lostError });
    return lostError;
  }

  function lose(reason: LossReason, cause?: unknown): void {
    if (isHeld()) lost(reason, cause);
  }

  function abandon(): void {
    if (abandoned) return;
    abandoned = true;
    port.abandon(term);
  }

  async function windowOver(): Promise<void> {
    const leftMs = trust.leftMs();
    if (leftMs > 0) {
      stopWatching = clock.after(leftMs, windowOver);
      return;
    }
    // Called later than the margin allows: the event loop stood still. The session may have lived on,
    // so ask it, in a request from after the stall; an answer to an earlier one would prove nothing.
    const stalled = -leftMs > life.safetyMarginMs;
    if (life.kind === "session" && stalled) {
      await home.renewalRound(clock.now() + leftMs);
      if (!isHeld()) return;
      if (trust.leftMs() > 0) return windowOver();
    }
    lose("unconfirmed", lastFailure);
  }

  function renewed(
    renewal: Renewal,
    request: { readonly sentAt: number; readonly tookMs: number },
  ): void {
    if (!isHeld()) return;
    if (renewal.state === "held") {
      trust.extend(request.sentAt);
      lastFailure = undefined;
      home.publish({ ...facts, type: "renewed", tookMs: request.tookMs });
    } else if (renewal.state === "gone") {
      lose(replaced, renewal.cause);
    } else {
      lastFailure = renewal.cause;
      home.publish({ ...facts, type: "renewal-failed", error: renewal.cause });
    }
  }

  async function release(how: Ending): Promise<void> {
    stopWatching();
    try {
      if (lostError) throw lostError;
      const answer = await limited(clock, { timeoutMs: home.releaseTimeoutMs }, (signal) =>
        port.settle(term, how, window, signal),
      );
      if (answer === "gone") throw lost(replaced);
      const heldMs = clock.now() - grantedAt;
      home.publish({ ...facts, type: "settled", ending: how, heldMs });
    } catch (error) {
      abandon();
      if (error === lostError) throw error;
      const failure = backendFailure(error, {
        what: `Could not release "${graph}" (${where})`,
        limit: `releaseTimeoutMs ${home.releaseTimeoutMs}`,
        advice: "The ending may not be recorded; what is held ends by itself.",
      });
      home.publish({ ...facts, type: "settle-failed", ending: how, error: failure });
      throw failure;
    } finally {
      home.over(live);
    }
  }

  function assertHeld(): void {
    if (lostError) throw lostError;
    if (ending) throw lossError("settled", "it was settled before");
    if (trust.leftMs() <= 0) throw lost("unconfirmed", lastFailure);
  }

  async function confirmHeld(): Promise<void> {
    if (!isHeld()) return assertHeld();
    const sentAt = clock.now();
    const [answer] = await askAlive(port, clock, [term]);
    renewed(answer, { sentAt, tookMs: clock.now() - sentAt });
    if (!isHeld()) return assertHeld();
    if (answer.state === "held") return;
    throw backendFailure(answer.cause, {
      what: `Could not confirm the grant on "${graph}" (${where})`,
      limit: `renewTimeoutMs ${life.renewTimeoutMs}`,
      advice: "It is not lost by that alone; ask again, or stop.",
    });
  }

  const grant: Grant = {
    granted: true,
    graph,
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
    get released() {
      return settlement?.catch(() => undefined);
    },
    renewed,
    lose,
    drain: () => drain.abort(),
    cutOff() {
      if (ending) return;
      lost("closed");
      abandon();
    },
  };
  return live;
}
