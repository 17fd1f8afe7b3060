import { check } from "../check.js";
import { law } from "../laws.js";
import type { CaseContext } from "../suite/context.js";
import type { LawCase } from "./law-case.js";

/**
 * A case of the law on units. A coordinator whose guarantees say that it has no backlog is held to that: it
 * must not offer one.
 */
export function unitCase(name: string, run: LawCase["run"]): LawCase {
  return {
    law: law.noUnitLost,
    name,
    async run(context: CaseContext) {
      if (context.guarantees.backlog) return run(context);
      const { opened } = await context.replica("a");
      check(
        !opened.offersUnits,
        "its guarantees say that it has no backlog, and yet it offers submit or claim",
      );
    },
  };
}
