import type { Holder } from "@sole-writer/core";
import { answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { within } from "../promises.js";
import type { PlainEnding, PlainError } from "../replica/plain.js";
import type { Link } from "../replica/protocol.js";
import type { EventLog } from "./event-log.js";

/** A grant that the suite holds by hand. */
export interface Held {
  readonly run: string;
  readonly graph: string;
  readonly fence: bigint;
  readonly holder: Holder;
  /** Settles; resolves with what was thrown, if anything. */
  settle(ending?: PlainEnding | "dispose"): Promise<PlainError | undefined>;
  /** Settles, and fails the case when that throws. */
  release(ending?: PlainEnding | "dispose"): Promise<void>;
  /** What `assertHeld` threw, if anything. */
  assertHeld(): Promise<PlainError | undefined>;
  /** What `confirmHeld` threw, if anything. */
  confirmHeld(): Promise<PlainError | undefined>;
  /** Waits for the loss, fails the case when it is not told within `ms`. Resolves to its time. */
  lost(ms: number): Promise<{ readonly error: PlainError; readonly at: bigint }>;
  /** How often it was told so far. */
  losses(): number;
}

export function heldGrant(
  link: Link,
  log: EventLog,
  run: string,
  label: string,
  { graph, fence, holder }: Pick<Held, "graph" | "fence" | "holder">,
): Held {
  const settle: Held["settle"] = (ending = "done") =>
    within(
      2 * answerWithinMs,
      `${label} settled "${graph}"`,
      link.request("settle", { run, ending }),
    );

  return {
    run,
    graph,
    fence,
    holder,
    settle,
    async release(ending) {
      const thrown = await settle(ending);
      check(thrown === undefined, `${label} could not settle "${graph}": ${inWords(thrown)}`);
    },
    assertHeld: () =>
      within(slackMs, `assertHeld of ${label} ended`, link.request("assertHeld", { run })),
    confirmHeld: () =>
      within(
        2 * answerWithinMs,
        `confirmHeld of ${label} ended`,
        link.request("confirmHeld", { run }),
      ),
    async lost(ms) {
      const told = await log.first("lost", run, ms);
      check(
        told.error.isGrantLost,
        `the signal of ${label} aborted without a GrantLostError: ${inWords(told.error)}`,
      );
      return told;
    },
    losses: () => log.all("lost").filter((event) => event.run === run).length,
  };
}
