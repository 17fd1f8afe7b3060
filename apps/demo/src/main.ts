/**
 * The demo: several processes, one PostgreSQL, one writer for each graph. Prints the story, a table of
 * what was promised and what was seen, and ends with 1 when the two differ.
 */
import { once } from "node:events";
import { type DemoOptions, parseOptions, sceneList } from "./options.js";
import { storyteller, wantsColor } from "./report/story.js";
import { tableOf } from "./report/table.js";
import { summaryOf } from "./report/verdict.js";
import { scenes } from "./scenes/all.js";
import { stageClock } from "./stage/clock.js";
import { openDatabase } from "./stage/database.js";
import { direct } from "./stage/director.js";
import { happenings } from "./stage/happening.js";

const interruptedCode = 130;
const interrupted = new AbortController();

const parsed = parseOptions(process.argv.slice(2), scenes);
if (parsed.kind === "exit") process.exitCode = parsed.code;
else if (parsed.options.list) process.stdout.write(sceneList(scenes));
else {
  listenForCtrlC();
  process.exitCode = await run(parsed.options).catch(failed);
}

/** Resolves with the exit code; nothing of the run is left then. */
async function run(options: DemoOptions): Promise<number> {
  const { signal } = interrupted;
  const out = options.json ? process.stderr : process.stdout;
  const write = (text: string) => void out.write(text);
  const useColor = wantsColor(out, process.env);
  const clock = stageClock();
  const story = storyteller(write, useColor);
  const seen = happenings(story.tell);
  const say = (text: string) =>
    seen.add({
      kind: "told",
      atMs: clock.sinceStartMs(),
      who: "director",
      tone: "plain",
      text,
    });

  const given = process.env.DATABASE_URL || undefined;
  if (given === undefined) say("starts a PostgreSQL of its own");
  const database = await openDatabase(given);
  try {
    const { article, stock, sale, box } = database.loaded;
    say(`${database.description}`);
    say(`warehouse loaded: ${article} articles, ${stock} bins, ${box} boxes, ${sale} sales lines`);
    const report = await direct({ options, clock, database, happenings: seen, signal });
    story.flush();
    write(`\n${tableOf(report.scenes, useColor)}\n\n`);
    write(`${report.ok ? "OK" : "BROKEN"}: ${summaryOf(report)}\nTimeline: ${report.timeline}\n`);
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    if (options.keep) await keep(write, database.shownUrl);
    return report.ok ? 0 : 1;
  } finally {
    story.flush();
    await database.close();
  }
}

async function keep(write: (text: string) => void, url: string): Promise<void> {
  write(`The database stays until Ctrl-C: ${url}\n`);
  if (!interrupted.signal.aborted) {
    // A listener does not keep the process alive.
    const alive = setInterval(() => {}, 60_000);
    await once(interrupted.signal, "abort");
    clearInterval(alive);
  }
}

function failed(error: unknown): number {
  if (interrupted.signal.aborted) {
    process.stderr.write("Stopped. Nothing is left running.\n");
    return interruptedCode;
  }
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}

/** The first one ends the run in order; a second one ends it at once. */
function listenForCtrlC(): void {
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (interrupted.signal.aborted) process.exit(interruptedCode);
      interrupted.abort(new Error("Stopped by Ctrl-C."));
    });
  // Whoever read the story has gone, as `head` does: there is nobody left to play for.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", () => interrupted.abort(new Error("Nobody reads the story any more.")));
}
