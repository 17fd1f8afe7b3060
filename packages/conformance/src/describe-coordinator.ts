import { afterAll, beforeAll, describe, it } from "vitest";
import { cases } from "./cases.js";
import type { CoordinatorFactory } from "./factory.js";
import { laws, nameOfLaw } from "./laws.js";
import { defaultOptions, type SuiteOptions } from "./options.js";
import { openSuite, type Suite } from "./suite/suite.js";

/** Time in ms to put things right after a case. */
const cleanUpMs = 30_000;

/**
 * Declares the whole suite for one coordinator, inside a test file of vitest: one test per case, under
 * the name of its law.
 *
 * A case whose hooks the factory lacks is skipped with a note that names the hook. A law of which no
 * case could be run fails.
 */
export function describeCoordinator<Settings>(
  name: string,
  factory: CoordinatorFactory<Settings>,
  options: SuiteOptions = {},
): void {
  const timeout = (options.caseTimeoutMs ?? defaultOptions.caseTimeoutMs) + cleanUpMs;

  describe(name, () => {
    let suite: Suite | undefined;
    beforeAll(async () => {
      suite = await openSuite(factory, options);
    });
    afterAll(() => suite?.close());

    for (const { number } of laws) {
      const ofLaw = cases.filter((lawCase) => lawCase.law === number);
      if (ofLaw.length === 0) continue;
      describe(nameOfLaw(number), () => {
        const notRun: string[] = [];
        for (const lawCase of ofLaw)
          it(lawCase.name, { timeout }, async ({ skip }) => {
            const verdict = await suite?.judge(lawCase);
            if (verdict?.kind === "broken") throw verdict.error;
            if (verdict?.kind !== "not-run") return;
            notRun.push(verdict.wants);
            skip(`not run: it wants "${verdict.wants}" of the factory`);
          });
        it("was put to the test", () => {
          if (notRun.length < ofLaw.length) return;
          throw new Error(
            `No case of ${nameOfLaw(number)} could be run. Give the factory: ${[...new Set(notRun)].join(", ")}.`,
          );
        });
      });
    }
  });
}
