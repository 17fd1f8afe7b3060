import type { BaseCheckpointSaver } from "@langchain/langgraph";

type Method = (...args: never[]) => unknown;

/** Replaces a method of the saver: given its name and what it does, what shall be called instead. */
export type Replace = (
  name: string,
  call: (...args: unknown[]) => unknown,
) => ((...args: never[]) => unknown) | undefined;

/**
 * A saver that is the other one in everything but the methods that `replace` takes over.
 *
 * A proxy and no subclass, so that members which are not known yet are there as well. Methods are called
 * on the saver itself: private members are not visible through a proxy.
 */
export function saverOver<S extends BaseCheckpointSaver>(saver: S, replace: Replace): S {
  const made = new Map<unknown, Method>();
  return new Proxy(saver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || name === "constructor") return member;
      const known = made.get(member);
      if (known) return known;
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      const method: Method = (typeof name === "string" && replace(name, call)) || call;
      made.set(member, method);
      return method;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/**
 * The methods that change what is stored: those of today's savers, and those that savers in other
 * languages have already.
 */
const writers = ["put", "putWrites", "deleteThread", "deleteForRuns", "copyThread", "prune"];

export function isWriter(name: string): boolean {
  return writers.includes(name);
}

/** The thread that a call of one of the saver's methods is about, as far as its first argument says. */
export function threadOf(args: readonly unknown[]): string | undefined {
  const [first] = args;
  if (typeof first === "string") return first;
  const config = first as { configurable?: { thread_id?: unknown }; config?: unknown } | undefined;
  const id = config?.configurable?.thread_id;
  if (typeof id === "string") return id;
  return config?.config === undefined ? undefined : threadOf([config.config]);
}
