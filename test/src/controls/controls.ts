import type { CoordinatorFactory } from "@sole-writer/conformance";
import { type LawNumber, law } from "@sole-writer/conformance/cases";
import { brokenInMemory as broken, inMemory } from "./in-memory.js";
import { onPostgresFactory, type PostgresControl } from "./on-postgres.js";
import { onUnitsFactory, type UnitsControl } from "./on-units.js";

/** A coordinator that is broken on purpose, and the case that must find it. */
export interface Control {
  readonly name: string;
  readonly law: LawNumber;
  /** The name of a case of that law which must fail. */
  readonly caughtBy: string;
  /** What that case must say: that it fails is not enough. */
  readonly saying: RegExp;
  factory(url: string): CoordinatorFactory;
}

function memory(control: keyof typeof broken): Pick<Control, "name" | "factory"> {
  return { name: inWords(control), factory: () => inMemory(broken[control]) as CoordinatorFactory };
}

function postgres(control: PostgresControl["control"]): Pick<Control, "name" | "factory"> {
  return {
    name: inWords(control),
    factory: (url) => onPostgresFactory(control, url) as CoordinatorFactory,
  };
}

function units(control: UnitsControl["control"]): Pick<Control, "name" | "factory"> {
  return {
    name: inWords(control),
    factory: (url) => onUnitsFactory(control, url) as CoordinatorFactory,
  };
}

/** `saltedHash` as `salted hash`. */
function inWords(control: string): string {
  return control.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const race = "of two replicas at a barrier one runs and the other is skipped";

export const controls: readonly Control[] = [
  {
    ...memory("forgetsWindows"),
    law: law.windows,
    caughtBy: "a window that is done is refused on every replica, and so is an earlier one",
    saying: /should have been refused/,
  },
  {
    ...postgres("blockingLock"),
    law: law.exclusion,
    caughtBy: race,
    saying: /not within .* ms: of 2 ticks at one time all but one were answered while that one ran/,
  },
  {
    ...postgres("saltedHash"),
    law: law.exclusion,
    caughtBy: race,
    saying: /two runs of "price_feed" at one time/,
  },
  {
    ...postgres("transactionLock"),
    law: law.exclusion,
    caughtBy: race,
    saying: /two runs of "price_feed" at one time/,
  },
  {
    ...postgres("pooledSession"),
    law: law.exclusion,
    caughtBy: race,
    saying: /two runs of "price_feed" at one time/,
  },
  {
    ...postgres("blockingLock"),
    law: law.noWaiting,
    caughtBy:
      "a replica that comes second is answered while the first one runs, and does not run later",
    saying: /not within .* ms: the tick of b/,
  },
  {
    ...memory("refusesWithoutName"),
    law: law.namedRefusal,
    caughtBy:
      "a refusal names the replica that holds the graph, and after a hand-over the next one",
    saying: /must say that the holder cannot be known/,
  },
  {
    ...memory("namesTheFirstHolderForEver"),
    law: law.namedRefusal,
    caughtBy:
      "a refusal names the replica that holds the graph, and after a hand-over the next one",
    saying: /it should have named "replica-b"/,
  },
  {
    ...memory("callsAnErrorBusy"),
    law: law.busyIsNotBroken,
    caughtBy: "a backend that is down is an error with a code, never a refusal and never a grant",
    saying: /should have thrown, but: .*"refused"/,
  },
  {
    ...memory("keepsTheGraphWhenWorkFails"),
    law: law.everyEndingReleases,
    caughtBy: "after every kind of ending another replica is granted at once, and the same one too",
    saying: /should have been granted/,
  },
  {
    ...memory("sharesItsKeysBetweenApplications"),
    law: law.independence,
    caughtBy: "two applications on one backend have a graph of the same name each",
    saying: /b should have been granted/,
  },
  {
    ...memory("ratesItsHandOverTooFast"),
    law: law.crash,
    caughtBy: "a holder that is killed is replaced within the bound that its guarantees state",
    saying: /was not granted "price_feed" within 2000 ms/,
  },
  {
    ...memory("neverTellsALoss"),
    law: law.lossIsTold,
    caughtBy:
      "a grant that is ended at the backend aborts its signal, once, and is not taken again in silence",
    saying: /not within .* ms: the replica said "lost"/,
  },
  {
    ...memory("countsItsFencesDown"),
    law: law.fencesRise,
    caughtBy: "every grant has a larger fence than the one before, over restarts of the holders",
    saying: /every fence should have been larger than the one before/,
  },
  {
    ...memory("releasesByKeyAlone"),
    law: law.onlyTheOwnerSettles,
    caughtBy:
      "settling a grant that was lost changes nothing for the next holder, and says GRANT_LOST",
    saying: /the next holder lost its grant by that/,
  },
  {
    ...postgres("reentrantSession"),
    law: law.notReentrant,
    caughtBy: "a second acquire of the same coordinator is refused like anybody else's",
    saying: /a should have been refused .* but: .*"granted"/,
  },
  {
    ...memory("cutsNamesShort"),
    law: law.names,
    caughtBy:
      "odd names that keep the rule are all different graphs, and come back as they were given",
    saying: /the grant is on "x|should have been granted "x/,
  },
  {
    ...memory("asksBeforeItLooksAtTheName"),
    law: law.names,
    caughtBy: "a name that breaks the rule is refused before the backend is asked",
    saying: /should be refused with INVALID_NAME, but: .*BACKEND_UNREACHABLE/,
  },
  {
    ...memory("leavesAnOrphanWhenGivenUp"),
    law: law.noOrphans,
    caughtBy: "an acquire that was given up, at whatever moment, leaves nothing behind",
    saying: /b was not granted "price_feed"/,
  },
  {
    ...postgres("ignoresBeingGivenUp"),
    law: law.noOrphans,
    caughtBy:
      "after an acquire that was given up while the backend was silent, the process is answered again",
    saying: /not within .* ms: a was answered|should have been granted .* but: .*BACKEND_TIMEOUT/,
  },
  {
    ...memory("releasesWhenToldToStop"),
    law: law.handOverWaits,
    caughtBy: "work that was stopped by its caller keeps the graph until it has settled",
    saying: /b should have been refused .* but: .*"granted"/,
  },
  {
    ...units("forgetsAUnit"),
    law: law.noUnitLost,
    caughtBy: "every unit that was accepted is claimed once, and ends as done",
    saying: /each unit should have been claimed once/,
  },
  {
    ...units("countsAHandBack"),
    law: law.noUnitLost,
    caughtBy: "handing back costs no attempt, however often",
    saying: /should have been unit \d+ in attempt 1/,
  },
  {
    ...units("countsErrorsAlone"),
    law: law.noUnitLost,
    caughtBy: "the unit of a replica that was killed is claimed again, with its start counted",
    saying: /should have been unit \d+ in attempt 2/,
  },
  {
    ...units("keepsAKeyForEver"),
    law: law.noUnitLost,
    caughtBy: "a key adds nothing while its unit is unfinished, and says so",
    saying: /a key is free when its unit is done/,
  },
  {
    ...units("hidesItsBacklog"),
    law: law.noUnitLost,
    caughtBy: "every unit that was accepted is claimed once, and ends as done",
    saying: /says? that it has no backlog, and yet it offers/,
  },
];
