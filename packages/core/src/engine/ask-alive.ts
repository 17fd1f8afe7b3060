import type { Clock } from "../clock.js";
import type { Renewal, Term, TermPort } from "../term-port.js";
import { backendFailure } from "./faults.js";
import { limited } from "./limited.js";

/** Asks the backend once whether `terms` are still ours: one answer for each, in order. Never rejects. */
export async function askAlive<T extends Term>(
  port: TermPort<T>,
  clock: Clock,
  terms: readonly [T, ...T[]],
): Promise<readonly [Renewal, ...Renewal[]]> {
  const { renewTimeoutMs } = port.life;
  function unknown(cause: unknown): Renewal {
    const failure = backendFailure(cause, {
      what: `Could not renew (${port.strategy} on ${port.backend})`,
      limit: `renewTimeoutMs ${renewTimeoutMs}`,
      advice: "A grant is not lost by that alone; the next renewal follows.",
    });
    return { state: "unknown", cause: failure };
  }

  let answers: readonly Renewal[];
  try {
    answers = await limited(clock, { timeoutMs: renewTimeoutMs }, (signal) =>
      port.renew(terms, signal),
    );
  } catch (cause) {
    const failed = unknown(cause);
    answers = terms.map(() => failed);
  }
  const answerTo = (index: number) =>
    answers[index] ?? unknown(new Error("the port gave no answer for this term"));
  const [, ...others] = terms;
  return [answerTo(0), ...others.map((_, index) => answerTo(index + 1))];
}
