/** How much the suite does. */
export interface SuiteOptions {
  /** Rounds of each contention case. Default 10; 100 for a release. */
  readonly rounds?: number;
  /** Replicas in the cases that want many. Default 6; 16 for a release. */
  readonly replicas?: number;
  /** Length in ms of the storm of ticks. Default 3,000; a minute for a release. */
  readonly stormMs?: number;
  /** Acquires that are given up at random moments. Default 40. */
  readonly giveUps?: number;
  /** Longest time in ms for one case. Default 60,000. */
  readonly caseTimeoutMs?: number;
}

/** What the suite does when nothing is said. */
export const defaultOptions: Required<SuiteOptions> = {
  rounds: 10,
  replicas: 6,
  stormMs: 3_000,
  giveUps: 40,
  caseTimeoutMs: 60_000,
};
