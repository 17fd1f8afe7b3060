import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program that is told lines and answers with lines. */
export interface LineProgram extends AsyncDisposable {
  /** Writes a line, and resolves with the next one that comes back. */
  ask(line: string): Promise<string>;
  /** The next line it writes. Throws with its stderr when it ends first. */
  nextLine(): Promise<string>;
  /** Ends it as a crash would, and resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a program; the test that uses it ends it. */
export function lineProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): LineProgram {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  ended.catch(() => undefined);
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  // A program that ended first; its missing answer tells that.
  child.stdin.on("error", () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();

  async function nextLine(): Promise<string> {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`${program} ended without an answer: ${complaints}`);
    return value;
  }

  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return nextLine();
    },
    nextLine,
    kill: () => end(child, ended),
    [Symbol.asyncDispose]: () => end(child, ended),
  };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}
