/**
 * The cases as data, for whoever wants to run them one by one: a deliberately broken coordinator must
 * fail the cases of the law that it breaks.
 */
import { busyIsNotBrokenCases } from "./cases/busy-is-not-broken.js";
import { crashCases } from "./cases/crash.js";
import { everyEndingReleasesCases, independenceCases } from "./cases/endings.js";
import { exclusionCases, noWaitingCases } from "./cases/exclusion.js";
import { fencesRiseCases } from "./cases/fences.js";
import { handOverWaitsCases } from "./cases/hand-over.js";
import type { LawCase } from "./cases/law-case.js";
import { lossIsToldCases } from "./cases/loss.js";
import { namedRefusalCases } from "./cases/named-refusal.js";
import { namesCases } from "./cases/names.js";
import { noOrphansCases } from "./cases/orphans.js";
import { notReentrantCases, onlyTheOwnerSettlesCases } from "./cases/owner.js";
import { unitCommandCases } from "./cases/unit-commands.js";
import { noUnitLostCases } from "./cases/units.js";
import { windowCases } from "./cases/windows.js";

export type { LawCase } from "./cases/law-case.js";
export { type LawNumber, law, laws, nameOfLaw } from "./laws.js";
export type { CaseContext } from "./suite/context.js";
export { openSuite, type Suite, type Verdict } from "./suite/suite.js";

/** Every case of the suite, in the order of the laws. */
export const cases: readonly LawCase[] = [
  ...windowCases,
  ...exclusionCases,
  ...noWaitingCases,
  ...namedRefusalCases,
  ...busyIsNotBrokenCases,
  ...everyEndingReleasesCases,
  ...independenceCases,
  ...crashCases,
  ...lossIsToldCases,
  ...fencesRiseCases,
  ...onlyTheOwnerSettlesCases,
  ...notReentrantCases,
  ...namesCases,
  ...noOrphansCases,
  ...handOverWaitsCases,
  ...noUnitLostCases,
  ...unitCommandCases,
];
