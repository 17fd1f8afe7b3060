import { answerWithinMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { within } from "../promises.js";
import type { PlainReport } from "../replica/plain.js";
import type { CaseContext } from "../suite/context.js";
import type { Replica } from "../suite/replica.js";

type OutcomeReport = Extract<PlainReport, { kind: "outcome" }>;

/**
 * All replicas tick one graph at one time. Exactly one may run, and the others must be answered while it
 * does: it is told to finish when they are, or when a second one has begun.
 */
export async function raceOnce(
  context: CaseContext,
  racers: readonly Replica[],
  graph: string,
): Promise<{ readonly winner: OutcomeReport; readonly losers: readonly OutcomeReport[] }> {
  const startAt = context.barrier();
  const ticks = racers.map((racer) => racer.tick(graph, { hold: "until-told" }, { startAt }));
  const others = first(
    racers.length - 1,
    ticks.map(({ report }) => report),
  );
  const two = first(
    2,
    ticks.map((tick) => tick.began()),
  );
  try {
    await within(
      answerWithinMs,
      `of ${racers.length} ticks at one time all but one were answered while that one ran`,
      Promise.race([others, two]),
    );
  } finally {
    for (const tick of ticks) await tick.finish();
  }
  const reports = await Promise.all(ticks.map(({ report }) => report));
  const outcomes = reports.filter((report) => report.kind === "outcome");
  const [winner, second] = outcomes.filter(({ status }) => status === "ran");
  const losers = outcomes.filter(({ status }) => status === "skipped");
  check(
    winner && !second && losers.length === racers.length - 1,
    `of ${racers.length} ticks at one time one should have run and the others been skipped, but: ${inWords(reports)}`,
  );
  return { winner, losers };
}

/** Resolves when `count` of these have been fulfilled. */
function first(count: number, promises: readonly Promise<unknown>[]): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const one = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (const promise of promises) promise.then(one, () => undefined);
  });
}
