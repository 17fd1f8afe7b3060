import type { Term } from "../term-port.js";
import type { LiveGrant } from "./live-grant.js";

/**
 * Who in this process may ask for a graph: one caller at a time, and none while a grant is out.
 *
 * Session locks are re-entrant, so two callers of one process would both be told yes. And two callers
 * who ask at once must not be told about each other before it is known whether either was granted:
 * the second waits for the first one's answer, never for its work.
 */
export interface GraphDesk<T extends Term> {
  /** Waits while another caller's question is open, or the remains of one are being cleaned up. */
  enter(graph: string, signal: AbortSignal): Promise<Turn<T> | { readonly heldBy: LiveGrant<T> }>;
  /** Something was left half done for `graph`: nobody enters before `work` has ended. */
  clean(graph: string, work: Promise<void>): void;
  /** A grant that nobody entered for: one of a claim. */
  adopt(grant: LiveGrant<T>): void;
  leave(grant: LiveGrant<T>): void;
  grants(): readonly LiveGrant<T>[];
  /** True when no grant is out. */
  readonly isIdle: boolean;
  /** Resolves when no grant is out. */
  settled(): Promise<void>;
  /** Resolves when nothing is left half done: no question, no cleaning, no release. */
  cleaned(): Promise<void>;
}

export interface Turn<T extends Term> {
  /** The question is answered, with a grant or without. */
  leave(grant: LiveGrant<T> | undefined): void;
}

/** @param exclusive what has one writer: with `unit`, a graph may have several grants at a time */
export function graphDesk<T extends Term>(exclusive: "graph" | "unit" = "graph"): GraphDesk<T> {
  const open = new Map<string, Promise<void>>();
  const cleaning = new Map<string, Promise<void>>();
  const held = new Set<LiveGrant<T>>();
  const heldOf = new Map<string, LiveGrant<T>>();
  let whenEmpty: (() => void)[] = [];

  function adopt(grant: LiveGrant<T>): void {
    held.add(grant);
    if (exclusive === "graph") heldOf.set(grant.term.graph, grant);
  }

  return {
    adopt,
    async enter(graph, signal) {
      for (;;) {
        const busy = open.get(graph) ?? cleaning.get(graph);
        if (!busy) break;
        await busy;
        if (signal.aborted) throw signal.reason;
      }
      const grant = heldOf.get(graph);
      if (grant) return { heldBy: grant };
      let answered = () => {};
      open.set(graph, new Promise((resolve) => (answered = resolve)));
      return {
        leave(granted) {
          open.delete(graph);
          if (granted) adopt(granted);
          answered();
        },
      };
    },
    clean(graph, work) {
      const before = cleaning.get(graph);
      const done: Promise<void> = Promise.allSettled([before, work]).then(() => {
        if (cleaning.get(graph) === done) cleaning.delete(graph);
      });
      cleaning.set(graph, done);
    },
    leave(grant) {
      if (!held.delete(grant)) return;
      if (heldOf.get(grant.term.graph) === grant) heldOf.delete(grant.term.graph);
      if (held.size > 0) return;
      for (const resolve of whenEmpty) resolve();
      whenEmpty = [];
    },
    grants: () => [...held],
    get isIdle() {
      return held.size === 0;
    },
    settled: () =>
      held.size === 0 ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(resolve)),
    async cleaned() {
      for (;;) {
        const releases = [...held].map((grant) => grant.released);
        const halfDone = [...open.values(), ...cleaning.values(), ...releases.filter(Boolean)];
        if (halfDone.length === 0) return;
        await Promise.all(halfDone);
      }
    },
  };
}
