import type { AcquireOptions, Coordinator, Grant, Refusal } from "@sole-writer/core";

/** `base` with some of its members replaced; all others, getters too, stay those of `base`. */
export function altered<T extends object>(base: T, changes: Partial<T>): T {
  const descriptors = Object.getOwnPropertyDescriptors(changes);
  return Object.create(base, descriptors);
}

/** A coordinator whose answers are changed on their way out. */
export function answering(
  base: Coordinator,
  change: {
    readonly ask?: (graph: string, options: AcquireOptions) => Promise<Grant | Refusal>;
    readonly grant?: (grant: Grant, options: AcquireOptions) => Grant;
    readonly refusal?: (refusal: Refusal) => Refusal;
  },
): Coordinator {
  const { ask = base.acquire, grant = (same) => same, refusal = (same) => same } = change;
  return altered(base, {
    async acquire(graph, options = {}) {
      const answer = await ask(graph, options);
      return answer.granted ? grant(answer, options) : refusal(answer);
    },
  });
}
