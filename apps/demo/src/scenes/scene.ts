import type { Stage } from "../stage/stage.js";

/** A promise that is put to the test on stage. */
export interface Scene {
  /** As it is written behind `--scene`. */
  readonly name: string;
  /** One sentence: what is promised. */
  readonly title: string;
  play(stage: Stage): Promise<Played>;
}

/** What was promised and what was seen, in words for the final table. */
export interface Check {
  readonly promised: string;
  readonly seen: string;
  readonly kept: boolean;
}

export type Played =
  | {
      readonly kind: "played";
      readonly checks: readonly Check[];
      /** What was measured, in ms, by name. */
      readonly measuredMs?: Readonly<Record<string, number>>;
    }
  /** It could not be shown here; nothing was promised and nothing is broken. */
  | { readonly kind: "left-out"; readonly why: string };

/** `1 run`, `2 runs`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Ms for people: two digits below ten, none above a hundred. */
export function shownMs(ms: number): string {
  const digits = ms < 10 ? 2 : ms < 100 ? 1 : 0;
  return `${ms.toFixed(digits)} ms`;
}
