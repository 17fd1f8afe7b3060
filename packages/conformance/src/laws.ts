/** The laws of a coordinator, by number. */
export const laws = [
  { number: 0, name: "One run per window" },
  { number: 1, name: "Exclusion" },
  { number: 2, name: "No waiting" },
  { number: 3, name: "Named refusal" },
  { number: 4, name: "Busy is not broken" },
  { number: 5, name: "Every ending releases" },
  { number: 6, name: "Independence" },
  { number: 7, name: "Crash" },
  { number: 8, name: "Loss is told" },
  { number: 9, name: "Fences rise" },
  { number: 10, name: "Stale cannot write" },
  { number: 11, name: "Only the owner settles" },
  { number: 12, name: "Not re-entrant" },
  { number: 13, name: "Names" },
  { number: 14, name: "No orphans" },
  { number: 15, name: "Voluntary hand-over waits" },
  { number: 16, name: "No unit lost" },
] as const;

/**
 * The number of a law. 0 stands for what the interface promises of windows, which belongs to no law.
 */
export type LawNumber = (typeof laws)[number]["number"];

/** The laws by a word, for the files of cases. */
export const law = {
  windows: 0,
  exclusion: 1,
  noWaiting: 2,
  namedRefusal: 3,
  busyIsNotBroken: 4,
  everyEndingReleases: 5,
  independence: 6,
  crash: 7,
  lossIsTold: 8,
  fencesRise: 9,
  onlyTheOwnerSettles: 11,
  notReentrant: 12,
  names: 13,
  noOrphans: 14,
  handOverWaits: 15,
  noUnitLost: 16,
} as const satisfies Record<string, LawNumber>;

/** `law 4, Busy is not broken` */
export function nameOfLaw(number: LawNumber): string {
  const found = laws.find((candidate) => candidate.number === number);
  return `law ${number}, ${found?.name ?? "unknown"}`;
}
