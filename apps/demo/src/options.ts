import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import type { Scene } from "./scenes/scene.js";

/** What was asked for on the command line. */
export interface DemoOptions {
  /** Names of the scenes to play; all when empty. */
  readonly scene: readonly string[];
  readonly list: boolean;
  readonly json: boolean;
  readonly keep: boolean;
  readonly unprotected: boolean;
  /** Path of the picture. */
  readonly timeline: string;
}

export type Parsed =
  | { readonly kind: "run"; readonly options: DemoOptions }
  /** Help was printed, or a mistake was explained: end with this exit code. */
  | { readonly kind: "exit"; readonly code: number };

const defaults = { scene: [], list: false, json: false, keep: false, unprotected: false };

/** Reads the command line. What is wrong with it is written to stderr, with what is allowed. */
export function parseOptions(argv: readonly string[], scenes: readonly Scene[]): Parsed {
  const collect = (name: string, before: readonly string[] = []) => [...before, name];
  const sceneOption = new Option(
    "-s, --scene <name>",
    "play only this scene; may be repeated",
  ).argParser(collect);
  const command = new Command("demo")
    .description(
      "A warehouse with several replicas on a real PostgreSQL. Each scene puts one promise of Sole Writer to the test; the end compares promised and seen.",
    )
    .option("-l, --list", "list the scenes and end")
    .addOption(sceneOption)
    .option("--json", "one JSON document on stdout, the story on stderr")
    .option("--keep", "leave the database there afterwards, until Ctrl-C")
    .option("--unprotected", "see what happens without a lock between processes: must fail")
    .option("--timeline <file>", "where to write the picture, an SVG (default: beside the program)")
    .addHelpText(
      "after",
      "\nDATABASE_URL: use this PostgreSQL, in a database of its own that is dropped again; otherwise one is started.\nExit codes: 0 every promise kept, 1 one broken or PostgreSQL missing, 2 a wrong option, 130 Ctrl-C.",
    )
    .exitOverride();

  try {
    command.parse([...argv], { from: "user" });
  } catch (error) {
    const code = hasExitCode(error) && error.exitCode === 0 ? 0 : 2;
    return { kind: "exit", code };
  }
  const given = command.opts<Partial<DemoOptions>>();
  const options: DemoOptions = { ...defaults, timeline: defaultTimeline(), ...given };
  const unknown = options.scene.find((name) => !scenes.some((scene) => scene.name === name));
  if (unknown !== undefined) {
    process.stderr.write(`error: there is no scene "${unknown}". There are:\n${sceneList(scenes)}`);
    return { kind: "exit", code: 2 };
  }
  return { kind: "run", options };
}

/** One line for each scene. */
export function sceneList(scenes: readonly Scene[]): string {
  return scenes.map(({ name, title }) => `  ${name.padEnd(14)}  ${title}\n`).join("");
}

function defaultTimeline(): string {
  return fileURLToPath(new URL("./timeline.svg", import.meta.url));
}

function hasExitCode(error: unknown): error is { readonly exitCode: number } {
  return typeof error === "object" && error !== null && "exitCode" in error;
}
