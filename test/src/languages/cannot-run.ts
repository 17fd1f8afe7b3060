import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Why a program cannot run on this machine, or undefined when it can. */
export async function cannotRun(
  program: string,
  args: readonly string[],
  advice: string,
): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, args);
    return undefined;
  } catch {
    return `not run: ${program} ${args.join(" ")} fails here; ${advice}`;
  }
}
