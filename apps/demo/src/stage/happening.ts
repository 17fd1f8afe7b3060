import type { ReplicaEvent } from "../replica/protocol.js";

/** Something that is seen from outside. Story and picture are made from these, and from nothing else. */
export type Happening = { readonly atMs: number } & (
  | { readonly kind: "scene"; readonly name: string; readonly title: string }
  | { readonly kind: "told"; readonly who: string; readonly tone: Tone; readonly text: string }
  | {
      readonly kind: "coordinator";
      readonly replica: string;
      readonly graph: string;
      readonly event: ReplicaEvent["event"];
    }
  | { readonly kind: "killed"; readonly replica: string }
);

/** How a line of the story is meant. */
export type Tone = "plain" | "good" | "bad" | "quiet";

/** Collects what happens and passes it on as it does. */
export interface Happenings {
  readonly all: readonly Happening[];
  add(happening: Happening): void;
  /** Resolves with the next happening that fits. */
  next(fits: (happening: Happening) => boolean): Promise<Happening>;
}

/** An empty collection; `onEach` is called with every happening as it comes. */
export function happenings(onEach: (happening: Happening) => void): Happenings {
  const all: Happening[] = [];
  const awaited = new Set<(happening: Happening) => void>();
  return {
    all,
    add(happening) {
      all.push(happening);
      onEach(happening);
      for (const offer of [...awaited]) offer(happening);
    },
    next: (fits) =>
      new Promise((resolve) => {
        const offer = (happening: Happening) => {
          if (!fits(happening)) return;
          awaited.delete(offer);
          resolve(happening);
        };
        awaited.add(offer);
      }),
  };
}
