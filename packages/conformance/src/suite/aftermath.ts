import { describeFindings, findingsOf, runsOf } from "../oracle/findings.js";
import type { OracleRecord } from "../oracle/record.js";
import type { EventLog } from "./event-log.js";

/** What must not have happened in any case, whatever the case itself was about. One sentence each. */
export function oddities(
  logs: readonly { readonly label: string; readonly log: EventLog }[],
  records: readonly OracleRecord[],
  excused: ReadonlySet<string>,
): string[] {
  const findings = findingsOf(runsOf(records));
  const overlaps = findings.overlaps.filter(([before]) => !excused.has(before.run));
  return [
    ...describeFindings({ ...findings, overlaps }),
    ...logs.flatMap(({ label, log }) => [
      ...log.all("trouble").map(({ what }) => `in the process of ${label}: ${what}`),
      ...moreThanOnce(log.all("lost").map(({ run }) => run)).map(
        (run) => `the signal of ${label} told the loss of ${run} more than once`,
      ),
      ...moreThanOnce(
        log.all("observed-loss").map((loss) => `${loss.coordinator}, fence ${loss.fence}`),
      ).map((which) => `the observer of ${label} was told more than once of the loss of ${which}`),
    ]),
  ];
}

function moreThanOnce(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
