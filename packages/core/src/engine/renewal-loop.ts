import type { Clock } from "../clock.js";
import type { Term, TermPort } from "../term-port.js";
import { askAlive } from "./ask-alive.js";
import type { LiveGrant } from "./live-grant.js";

/** Keeps the grants of one coordinator alive, all of them in one request to the backend. */
export interface RenewalLoop {
  /** There is a grant: beat from now on, until there is none. */
  wake(): void;
  /** The last grant is over: stop beating. */
  rest(): void;
  /**
   * Asks now, or joins the round under way if its request was sent at `sentSince` or later.
   * Never rejects.
   */
  round(sentSince: number): Promise<void>;
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
  const { renewEveryMs } = port.life;
  let cancelBeat: (() => void) | undefined;
  let underWay: { readonly sentAt: number; readonly done: Promise<void> } | undefined;
  let stopped = false;

  function rest(): void {
    cancelBeat?.();
    cancelBeat = undefined;
  }

  function schedule(delayMs: number): void {
    rest();
    if (stopped || held().length === 0) return;
    cancelBeat = clock.after(delayMs, () => {
      cancelBeat = undefined;
      void round(Number.NEGATIVE_INFINITY);
    });
  }

  /** Resolves to the delay until the next round. */
  async function ask(sentAt: number): Promise<number> {
    const asked = held();
    const [first, ...others] = asked.map((grant) => grant.term);
    if (!first) return renewEveryMs;
    const answers = await askAlive(port, clock, [first, ...others]);
    const tookMs = clock.now() - sentAt;
    asked.forEach((grant, index) => {
      const answer = answers[index];
      if (answer) grant.renewed(answer, { sentAt, tookMs });
    });
    const failed = answers.some((answer) => answer.state === "unknown");
    return failed ? renewEveryMs / 4 : Math.max(renewEveryMs - tookMs, 0);
  }

  function round(sentSince: number): Promise<void> {
    if (underWay && underWay.sentAt >= sentSince) return underWay.done;
    const sentAt = clock.now();
    // Whatever ends a round plans the next one, also a round that found nobody to ask for: a grant
    // that begins while one is under way relies on it.
    const done = ask(sentAt).then((delayMs) => {
      if (underWay?.done === done) underWay = undefined;
      schedule(delayMs);
    });
    underWay = { sentAt, done };
    return done;
  }

  return {
    wake() {
      if (!cancelBeat && !underWay) schedule(renewEveryMs);
    },
    rest,
    round,
    stop() {
      stopped = true;
      rest();
    },
  };
}
