import { createHash } from "node:crypto";
import type { DueAnswer, DueOptions, Holder } from "@sole-writer/core";
import { openSession, type PostgresSession, sessionName } from "@sole-writer/postgres";

/**
 * Shortens the wait for work, and is never needed: a poll floor stands behind every wait.
 *
 *     notified ─────────┐
 *     submitted here ───┼──▶ everybody who waits goes and claims
 *     pollMs are over ──┘
 */
export interface Waker {
  whenDue(options: DueOptions): Promise<DueAnswer>;
  /** There is something to claim. */
  wake(): void;
  /** How the last claim went: after failures the waits grow, so that a server that is down is left alone. */
  asked(went: "well" | "badly"): void;
  close(): Promise<void>;
}

export interface WakerOptions {
  readonly url: string;
  readonly app: string;
  readonly holder: Pick<Holder, "id" | "label">;
  readonly pollMs: number;
  /** Listen at all. */
  readonly listens: boolean;
  readonly closing: AbortSignal;
}

/** A session that nobody hears from is given up and opened again: a silent network looks like no news. */
const probeEveryMs = 5_000;
const openLimitMs = 5_000;
const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** Sessions of a coordinator are counted; this one is not among those. */
const listenerCount = 1_000_000;

/** One channel for each application. A channel is an identifier, so the name itself does not fit. */
export function channelOf(app: string): string {
  return `sole_writer_${createHash("sha256").update(app).digest("hex").slice(0, 32)}`;
}

export function waker({ url, app, holder, pollMs, listens, closing }: WakerOptions): Waker {
  const waiting = new Set<(answer: DueAnswer) => void>();
  /** A word that came while nobody waited. */
  let isDue = false;
  let failures = 0;
  let opens = 0;
  let listening: Promise<void> | undefined;
  let session: PostgresSession | undefined;

  function wake(): void {
    isDue = waiting.size === 0;
    for (const resolve of [...waiting]) resolve("woken");
  }

  /** Listens until the coordinator closes; a session that is lost is opened again, ever more slowly. */
  async function listen(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!closing.aborted) {
      try {
        await listenOnce(() => {
          pauseMs = firstPauseMs;
        });
      } catch {
        // Nobody needs to be told: the poll floor goes on, and claims say what is wrong with the server.
      }
      await aMoment(pauseMs * (0.5 + Math.random()));
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  async function listenOnce(listens: () => void): Promise<void> {
    opens += 1;
    const { applicationName } = sessionName(holder, listenerCount + opens);
    const limit = AbortSignal.any([closing, AbortSignal.timeout(openLimitMs)]);
    session = await openSession({ url, applicationName, signal: limit });
    const own = session;
    const ended = new Promise<void>((resolve) => own.onEnd(() => resolve()));
    own.onNotification(wake);
    await own.run({ text: `listen ${channelOf(app)}` }, [], limit);
    listens();
    // What was submitted before this session listened.
    wake();
    while (own.isOpen && !closing.aborted) {
      await Promise.race([ended, aMoment(probeEveryMs)]);
      if (!own.isOpen || closing.aborted) break;
      await own.probe(AbortSignal.timeout(openLimitMs)).catch(() => own.destroy());
    }
  }

  /** A pause that keeps no process alive, and ends when the coordinator closes. */
  function aMoment(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(over, ms).unref();
      function over(): void {
        clearTimeout(timer);
        closing.removeEventListener("abort", over);
        resolve();
      }
      if (closing.aborted) over();
      else closing.addEventListener("abort", over, { once: true });
    });
  }

  return {
    wake,
    asked(went) {
      failures = went === "well" ? 0 : failures + 1;
    },
    whenDue({ atMostMs = pollMs, signal }) {
      if (listens) listening ??= listen();
      if (closing.aborted || signal?.aborted) return Promise.resolve("stopped");
      if (isDue && failures === 0) {
        isDue = false;
        return Promise.resolve("woken");
      }
      const grownMs = Math.min(
        atMostMs * 2 ** Math.min(failures, 10),
        Math.max(longestPauseMs, atMostMs),
      );
      return new Promise((resolve) => {
        const timer = setTimeout(() => over("poll"), grownMs * (0.9 + Math.random() / 5));
        const stop = () => over("stopped");
        function over(answer: DueAnswer): void {
          // While the server is down a word is no reason to ask at once.
          if (answer === "woken" && failures > 0) return;
          clearTimeout(timer);
          waiting.delete(over);
          for (const one of [signal, closing]) one?.removeEventListener("abort", stop);
          resolve(answer);
        }
        waiting.add(over);
        for (const one of [signal, closing]) one?.addEventListener("abort", stop, { once: true });
      });
    },
    async close() {
      await session?.end();
      await listening;
    },
  };
}
