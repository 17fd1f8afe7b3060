import { writeFile } from "node:fs/promises";
import type { DemoOptions } from "../options.js";
import { checkLeftovers } from "../report/leftovers.js";
import { checkRecord } from "../report/record.js";
import { picturesOf } from "../report/spans.js";
import { timelineSvg } from "../report/timeline.js";
import type { Report, Verdict } from "../report/verdict.js";
import { scenes } from "../scenes/all.js";
import type { Scene } from "../scenes/scene.js";
import type { StageClock } from "./clock.js";
import type { StageDatabase } from "./database.js";
import type { Happenings } from "./happening.js";
import { openOutsideWorld } from "./outside-world.js";
import { openStage, type Stage } from "./stage.js";

export interface Direction {
  readonly options: DemoOptions;
  readonly clock: StageClock;
  readonly database: StageDatabase;
  readonly happenings: Happenings;
  readonly signal: AbortSignal;
}

/**
 * Plays the scenes that were asked for, looks at the record, draws the picture.
 * @throws the reason of `signal` when that aborts; no replica is left then
 */
export async function direct(direction: Direction): Promise<Report> {
  const { options, clock, database, happenings, signal } = direction;
  const outside = await openOutsideWorld();
  const stage = openStage({ ...direction, outside, unprotected: options.unprotected });
  try {
    const [{ ready }] = await stage.threeReplicas();
    const strategy = `${ready.strategy} on ${ready.backend}`;
    stage.say("director", "plain", `the coordinator of the replicas: ${strategy}`);
    const verdicts: Verdict[] = [];
    for (const scene of asked(options)) verdicts.push(await verdictOn(scene, stage));
    await stage.endReplicas("close");
    const { pool } = database;
    verdicts.push(recordVerdict([...(await checkRecord(pool)), await checkLeftovers(pool)]));

    const pictures = picturesOf(happenings.all, clock.sinceStartMs());
    await writeFile(options.timeline, timelineSvg(pictures));
    return {
      ok: verdicts.every(({ state }) => state !== "broken"),
      tookMs: clock.sinceStartMs(),
      node: process.version,
      database: database.description,
      strategy,
      scenes: verdicts,
      timeline: options.timeline,
    };
  } finally {
    await stage.endReplicas("kill");
    await outside.close();
    signal.throwIfAborted();
  }
}

function asked({ scene }: DemoOptions): readonly Scene[] {
  return scene.length === 0 ? scenes : scenes.filter(({ name }) => scene.includes(name));
}

/** A scene that went wrong is a broken promise as well; the next one begins with new replicas. */
async function verdictOn({ name, title, play }: Scene, stage: Stage): Promise<Verdict> {
  stage.happenings.add({ kind: "scene", atMs: stage.clock.sinceStartMs(), name, title });
  try {
    const played = await play(stage);
    if (played.kind === "left-out") {
      stage.say("director", "quiet", `left out: ${played.why}`);
      return { name, title, state: "left-out", checks: [], measuredMs: {}, why: played.why };
    }
    const { checks, measuredMs = {} } = played;
    for (const { promised, seen, kept } of checks)
      if (!kept) stage.say("director", "bad", `promised: ${promised}; seen: ${seen}`);
    return { name, title, state: stateOf(checks), checks, measuredMs };
  } catch (error) {
    stage.signal.throwIfAborted();
    const seen = error instanceof Error ? error.message : String(error);
    stage.say("director", "bad", `the scene broke off: ${seen}`);
    await stage.endReplicas("kill");
    const checks = [{ promised: title, seen, kept: false }];
    return { name, title, state: "broken", checks, measuredMs: {} };
  }
}

function recordVerdict(checks: Verdict["checks"]): Verdict {
  const title = "what the work itself recorded, in a table that Sole Writer does not know";
  return { name: "record", title, state: stateOf(checks), checks, measuredMs: {} };
}

function stateOf(checks: Verdict["checks"]): "kept" | "broken" {
  return checks.every(({ kept }) => kept) ? "kept" : "broken";
}
