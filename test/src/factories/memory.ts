import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import { type Clock, type Coordinator, systemClock } from "@sole-writer/core";
import { type MemoryStore, memoryCoordinator, memoryStore } from "@sole-writer/core/testing";

/** Which store a coordinator in memory asks: the good one, or one that is down. */
export type MemorySettings = "good" | "down";

/** A backend in memory with the faults that the suite wants. */
export interface MemoryBackend {
  readonly store: MemoryStore;
  /** Opens an honest coordinator on it. */
  open(options: OpenOptions, ttlMs?: number): Coordinator;
  /** What the suite needs; `openAs` may open something less honest. */
  factory(openAs?: (options: OpenOptions) => Coordinator): CoordinatorFactory<MemorySettings>;
}

/** Short, so that the cases of a holder that is gone do not wait long; a lease on two busy cores. */
const usualTtlMs = 1_200;

/** A backend of its own, for coordinators in one process. */
export function memoryBackend(): MemoryBackend {
  const store = memoryStore(systemClock());
  const down = memoryStore(systemClock());
  down.fault = new Error("it is down, as the suite wanted");
  const clocks = new Map<string, StoppableClock>();

  function open(options: OpenOptions, ttlMs = usualTtlMs): Coordinator {
    const { app, label, acquireTimeoutMs, onEvent, settings } = options;
    const clock = stoppableClock();
    clocks.set(label, clock);
    const asked = settings === "down" ? down : store;
    return memoryCoordinator({ app, label, acquireTimeoutMs, onEvent, clock, store: asked, ttlMs });
  }

  return {
    store,
    open,
    factory: (openAs = open) => ({
      open: openAs,
      settings: "good",
      faults: {
        unreachable: "down",
        async takeAway({ app, graph }) {
          const record = store.graphs(app).get(graph);
          if (record) delete record.holder;
        },
        async loseData() {
          // The clock of this store has milliseconds, and a server that forgets is away for longer.
          await new Promise((resolve) => setTimeout(resolve, 2));
          store.loseData();
        },
        freeze: (label) => clocks.get(label)?.stop(),
        thaw: (label) => clocks.get(label)?.goOn(),
      },
    }),
  };
}

const ofThisProcess = memoryBackend();

/** Called in a replica of its own process; all coordinators there share one backend. */
export function open(options: OpenOptions): Coordinator {
  return ofThisProcess.open(options);
}

/** `memoryCoordinator`, which keeps apart what runs in one process. */
export const memoryFactory: CoordinatorFactory<MemorySettings> = {
  ...ofThisProcess.factory(),
  module: new URL("../../dist/factories/memory.js", import.meta.url),
};

interface StoppableClock extends Clock {
  stop(): void;
  goOn(): void;
}

/** Time goes on while it is stopped, as it does for a stopped process: only nobody is called back. */
function stoppableClock(): StoppableClock {
  const clock = systemClock();
  const late: (() => void)[] = [];
  let isStopped = false;
  return {
    ...clock,
    after(delayMs, callback) {
      let isCancelled = false;
      const call = () => {
        if (isCancelled) return;
        if (isStopped) late.push(call);
        else callback();
      };
      const cancel = clock.after(delayMs, call);
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    stop() {
      isStopped = true;
    },
    goOn() {
      isStopped = false;
      for (const call of late.splice(0)) call();
    },
  };
}
