import { answerWithinMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { within } from "../promises.js";
import type { PlainReport } from "../replica/plain.js";
import type { Commands, Link } from "../replica/protocol.js";
import type { EventLog } from "./event-log.js";

type OutcomeReport = Extract<PlainReport, { kind: "outcome" }>;

/** A tick under way. */
export interface TickRun {
  readonly run: string;
  /** How it ended; what `tick` itself threw is a report too. Rejects when the replica dies. */
  readonly report: Promise<PlainReport>;
  /** Fails the case when the work does not begin. */
  began(ms?: number): Promise<{ readonly fence: bigint; readonly at: bigint }>;
  /** The work may end. */
  finish(): Promise<void>;
  /** Aborts the signal that the tick was given. */
  abort(): Promise<void>;
  lost(ms: number): Promise<{ readonly at: bigint }>;
  draining(ms: number): Promise<{ readonly at: bigint }>;
  /** Fails the case when it does not end within `ms`, or with another status. */
  ends(status: OutcomeReport["status"], ms?: number): Promise<OutcomeReport>;
}

export function tickRun(
  link: Link,
  log: EventLog,
  label: string,
  ask: Commands["tick"]["ask"],
): TickRun {
  const { run, graph } = ask;
  const report = link.request("tick", ask);
  report.catch(() => undefined);
  return {
    run,
    report,
    began: (ms = answerWithinMs) => log.first("began", run, ms),
    async finish() {
      await link.request("tell", { run, what: "finish" });
    },
    async abort() {
      await link.request("tell", { run, what: "abort" });
    },
    lost: (ms) => log.first("lost", run, ms),
    draining: (ms) => log.first("draining", run, ms),
    async ends(status, ms = answerWithinMs) {
      const ended = await within(ms, `the tick of ${label} on "${graph}" ended`, report);
      check(
        ended.kind === "outcome" && ended.status === status,
        `the tick of ${label} on "${graph}" should have ended as "${status}", but: ${inWords(ended)}`,
      );
      return ended;
    },
  };
}
