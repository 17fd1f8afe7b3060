import type { Clock } from "../clock.js";
import type { Holder } from "../grant.js";
import type { WindowIdentity } from "../window.js";

/** What the store remembers of one graph. The record outlives every grant, so that fences rise. */
export interface MemoryRecord {
  fence: bigint;
  holder?: Holder;
  /** A reading of the store's clock, in ms. */
  expiresAt: number;
  /** When it was granted; a reading of the store's clock, in ms. */
  takenAt: number;
  lastWindow?: WindowIdentity;
  lastDone?: { readonly at: number; readonly date: Date };
}

/** A "server" in memory. Coordinators that share one behave like replicas that share a backend. */
export interface MemoryStore {
  readonly clock: Clock;
  /** The graphs of one application; applications never meet. */
  graphs(app: string): Map<string, MemoryRecord>;
  /** While set, every request throws it: the backend is down. */
  fault: Error | undefined;
  /** Forgets everything, as a backend without persistence does. */
  loseData(): void;
}

export function memoryStore(clock: Clock): MemoryStore {
  const apps = new Map<string, Map<string, MemoryRecord>>();
  return {
    clock,
    fault: undefined,
    graphs(app) {
      const graphs = apps.get(app) ?? new Map<string, MemoryRecord>();
      apps.set(app, graphs);
      return graphs;
    },
    loseData() {
      apps.clear();
    },
  };
}
