import type { Happening } from "../stage/happening.js";

/** A grant from its beginning to its end. */
export interface Span {
  readonly replica: string;
  readonly graph: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly ending: "ran" | "failed" | "lost" | "killed";
}

/** An acquire without a grant: a refusal, or an error because the backend could not be asked. */
export interface Mark {
  readonly kind: "skipped" | "error";
  readonly replica: string;
  readonly graph: string;
  readonly atMs: number;
  readonly message: string;
}

/** One scene as it is drawn. */
export interface ScenePicture {
  readonly name: string;
  readonly title: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
}

/** Sorts what happened into scenes, and grants into spans. */
export function picturesOf(all: readonly Happening[], endMs: number): ScenePicture[] {
  const scenes = all.flatMap((one) => (one.kind === "scene" ? [one] : []));
  return scenes.map(({ name, title, atMs }, index) => {
    const toMs = scenes[index + 1]?.atMs ?? endMs;
    const inside = all.filter((one) => one.atMs >= atMs && one.atMs < toMs);
    return { name, title, fromMs: atMs, toMs, ...spansOf(inside, toMs) };
  });
}

function spansOf(all: readonly Happening[], endMs: number) {
  const open = new Map<string, Omit<Span, "toMs" | "ending">>();
  const spans: Span[] = [];
  const marks: Mark[] = [];
  const close = (key: string, toMs: number, ending: Span["ending"]) => {
    const span = open.get(key);
    if (span) spans.push({ ...span, toMs, ending });
    open.delete(key);
  };
  for (const one of [...all].sort((a, b) => a.atMs - b.atMs)) {
    if (one.kind === "killed") {
      for (const [key, { replica }] of [...open])
        if (replica === one.replica) close(key, one.atMs, "killed");
    }
    if (one.kind !== "coordinator") continue;
    const { replica, graph, event, atMs } = one;
    const key = `${replica} ${graph}`;
    if (event.type === "granted") open.set(key, { replica, graph, fromMs: atMs });
    if (event.type === "lost") close(key, atMs, "lost");
    if (event.type === "settled") close(key, atMs, event.ending === "done" ? "ran" : "failed");
    if (event.type === "refused" || event.type === "acquire-failed") {
      const kind = event.type === "refused" ? "skipped" : "error";
      marks.push({ kind, replica, graph, atMs, message: event.message });
    }
  }
  for (const key of [...open.keys()]) close(key, endMs, "lost");
  return { spans, marks };
}
