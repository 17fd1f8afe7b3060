import type { Check } from "../scenes/scene.js";

/** What became of one scene. */
export interface Verdict {
  readonly name: string;
  readonly title: string;
  readonly state: "kept" | "broken" | "left-out";
  readonly checks: readonly Check[];
  /** What was measured, in ms, by name. */
  readonly measuredMs: Readonly<Record<string, number>>;
  /** Why it was left out. */
  readonly why?: string;
}

/** The whole run. `ok` is false as soon as one promise was seen broken. */
export interface Report {
  readonly ok: boolean;
  readonly tookMs: number;
  readonly node: string;
  readonly database: string;
  readonly strategy: string;
  readonly scenes: readonly Verdict[];
  /** Where the picture is; absent when nothing could be drawn. */
  readonly timeline?: string;
}

/** One line: how many promises, how many kept, what was left out. */
export function summaryOf({ scenes, tookMs }: Report): string {
  const checks = scenes.flatMap((scene) => scene.checks);
  const kept = checks.filter((check) => check.kept).length;
  const leftOut = scenes.filter((scene) => scene.state === "left-out").map(({ name }) => name);
  const left = leftOut.length === 0 ? "" : `; left out: ${leftOut.join(", ")}`;
  return `${kept} of ${checks.length} promises kept in ${(tookMs / 1_000).toFixed(1)} s${left}`;
}
