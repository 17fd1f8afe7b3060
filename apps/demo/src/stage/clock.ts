/** Time since the demo began, on the clock that all processes of one machine share. */
export interface StageClock {
  /** Ms since the beginning, now or for a reading of `process.hrtime.bigint()`. */
  sinceStartMs(atNs?: bigint): number;
}

/** A clock that begins now. */
export function stageClock(): StageClock {
  const start = process.hrtime.bigint();
  return {
    sinceStartMs: (atNs = process.hrtime.bigint()) => Number((atNs - start) / 1_000n) / 1_000,
  };
}
