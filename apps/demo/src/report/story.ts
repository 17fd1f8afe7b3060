import { createColors } from "picocolors";
import type { Happening, Tone } from "../stage/happening.js";

/** Tells what happens, a line at a time, as it happens. */
export interface Storyteller {
  tell(happening: Happening): void;
  /** Tells at once what is still held back. */
  flush(): void;
}

/** News of several processes do not arrive in the order in which things happened; they wait this long. */
const holdBackMs = 60;

/**
 * A storyteller for people: time since the start, who, what.
 * @param useColor false for a file, a pipe, or `NO_COLOR`
 */
export function storyteller(write: (line: string) => void, useColor: boolean): Storyteller {
  const tellNow = teller(write, useColor);
  let heldBack: Happening[] = [];
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const told = heldBack.sort((a, b) => a.atMs - b.atMs);
    heldBack = [];
    for (const happening of told) tellNow(happening);
  }

  return {
    tell(happening) {
      heldBack.push(happening);
      timer ??= setTimeout(flush, holdBackMs);
    },
    flush,
  };
}

function teller(write: (line: string) => void, useColor: boolean): (happening: Happening) => void {
  const colors = createColors(useColor);
  const paint: Record<Tone, (text: string) => string> = {
    plain: (text) => text,
    good: colors.green,
    bad: colors.red,
    quiet: colors.dim,
  };
  const line = (atMs: number, who: string, tone: Tone, text: string) => {
    const time = `${(atMs / 1_000).toFixed(3)} s`.padStart(9);
    write(`${colors.dim(time)}  ${who.padEnd(10)}  ${paint[tone](text)}\n`);
  };

  return (happening) => {
    const { atMs } = happening;
    switch (happening.kind) {
      case "scene":
        write(`\n${colors.bold(happening.name)}: ${happening.title}\n`);
        return;
      case "told":
        line(atMs, happening.who, happening.tone, happening.text);
        return;
      case "killed":
        line(atMs, happening.replica, "bad", "is killed with SIGKILL");
        return;
      case "coordinator": {
        const { replica, graph, event } = happening;
        if (event.type === "granted")
          line(atMs, replica, "plain", `${graph} granted, fence ${event.fence}`);
        if (event.type === "lost")
          line(atMs, replica, "bad", `${graph} lost: ${event.reason}, the signal aborts`);
      }
    }
  };
}

/** True when colours make sense on `stream`: a terminal, and nobody asked for none (https://no-color.org). */
export function wantsColor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}
