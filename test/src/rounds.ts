import type { SuiteOptions } from "@sole-writer/conformance";

/**
 * How much the suite does: `SOLE_WRITER_ROUNDS` rounds of each contention case, 10 unless it is set;
 * 100 for a long run, which then also has sixteen replicas and a longer storm.
 */
export function suiteOptions(): SuiteOptions {
  const rounds = Number(process.env.SOLE_WRITER_ROUNDS ?? 10);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error("SOLE_WRITER_ROUNDS must be a whole number of rounds, 1 or more.");
  return rounds < 100
    ? { rounds }
    : { rounds, replicas: 16, stormMs: 20_000, giveUps: 200, caseTimeoutMs: 180_000 };
}
