/** Median and spread of what was measured, in ms. */
export interface Spread {
  readonly medianMs: number;
  readonly p10Ms: number;
  readonly p90Ms: number;
  readonly count: number;
}

export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return {
    medianMs: at(0.5) ?? Number.NaN,
    p10Ms: at(0.1) ?? Number.NaN,
    p90Ms: at(0.9) ?? Number.NaN,
    count: sorted.length,
  };
}

/**
 * Runs every contender once a round, one after the other, so that what the machine does meanwhile meets all
 * of them alike. The first tenth of the rounds warms up and is not counted.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<void>>>,
): Promise<Record<Name, Spread>> {
  const names = Object.keys(contenders) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) {
      const startedAt = performance.now();
      await contenders[name]();
      const tookMs = performance.now() - startedAt;
      if (round >= rounds / 10) samples.get(name)?.push(tookMs);
    }
  return Object.fromEntries(names.map((name) => [name, spread(samples.get(name) ?? [])])) as Record<
    Name,
    Spread
  >;
}
