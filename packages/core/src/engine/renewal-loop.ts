import type { Clock } from "../clock.js";
import type { Renewal, Term, TermPort } from "../term-port.js";
import { limited } from "./limited.js";
import type { LiveGrant } from "./live-grant.js";

/** Keeps the grants of one coordinator alive, all of them in one request to the backend. */
export interface RenewalLoop {
  /** There is a grant: beat from now on, until there is none. */
  wake(): void;
  /** A grant is over: stop beating if it was the last. */
  rest(): void;
  /** Asks now, or joins the round under way. Never rejects. */
  round(): Promise<void>;
  stop(): void;
}

/**
 * A failed round is not a loss: the trust window of each grant decides. The next round follows sooner,
 * so that a window has room for several missed beats.
 */
export function renewalLoop<T extends Term>(
  port: TermPort<T>,
  clock: Clock,
  held: () => readonly LiveGrant<T>[],
): RenewalLoop {
  const { renewEveryMs, renewTimeoutMs } = port.life;
  let cancelBeat: (() => void) | undefined;
  let underWay: Promise<void> | undefined;
  let stopped = false;

  function schedule(delayMs: number): void {
    cancelBeat?.();
    cancelBeat = undefined;
    if (stopped || held().length === 0) return;
    cancelBeat = clock.after(delayMs, () => {
      cancelBeat = undefined;
      void round();
    });
  }

  async function ask(): Promise<void> {
    const asked = held();
    if (asked.length === 0) return;
    const sentAt = clock.now();
    let answers: readonly Renewal[];
    try {
      const terms = asked.map((grant) => grant.term);
      answers = await limited(clock, { timeoutMs: renewTimeoutMs }, (signal) =>
        port.renew(terms, signal),
      );
    } catch (cause) {
      answers = asked.map(() => ({ state: "unknown", cause }));
    }
    asked.forEach((grant, index) => {
      grant.renewed(answers[index] ?? { state: "unknown", cause: new Error("no answer") }, sentAt);
    });
    const failed = answers.some((answer) => answer.state === "unknown");
    const tookMs = clock.now() - sentAt;
    schedule(failed ? renewEveryMs / 4 : Math.max(renewEveryMs - tookMs, 0));
  }

  function round(): Promise<void> {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  return {
    wake() {
      if (!cancelBeat && !underWay) schedule(renewEveryMs);
    },
    rest() {
      if (held().length > 0) return;
      cancelBeat?.();
      cancelBeat = undefined;
    },
    round,
    stop() {
      stopped = true;
      cancelBeat?.();
    },
  };
}
