import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import { type Clock, type Coordinator, systemClock } from "@sole-writer/core";
import { memoryCoordinator, memoryStore } from "@sole-writer/core/testing";

/** Which store a coordinator in memory asks: the good one, or one that is down. */
export type MemorySettings = "good" | "down";

/** Short, so that the cases of a holder that is gone do not wait long; a lease on two busy cores. */
const ttlMs = 1_200;

const good = memoryStore(systemClock());
const down = memoryStore(systemClock());
down.fault = new Error("it is down, as the suite wanted");
const clocks = new Map<string, StoppableClock>();

/** A coordinator over a store that all coordinators of this process share, with a clock that can be stopped. */
export function open(options: OpenOptions): Coordinator {
  const { app, label, acquireTimeoutMs, onEvent, settings } = options;
  const clock = stoppableClock();
  clocks.set(label, clock);
  const store = settings === "down" ? down : good;
  return memoryCoordinator({ app, label, acquireTimeoutMs, onEvent, clock, store, ttlMs });
}

/** `memoryCoordinator`, which keeps apart what runs in one process. */
export const memoryFactory: CoordinatorFactory<MemorySettings> = {
  module: new URL("../../dist/factories/memory.js", import.meta.url),
  open,
  settings: "good",
  faults: {
    unreachable: "down",
    async takeAway({ app, graph }) {
      const record = good.graphs(app).get(graph);
      if (record) delete record.holder;
    },
    async loseData() {
      // The clock of this store has milliseconds, and a server that forgets is away for longer.
      await new Promise((resolve) => setTimeout(resolve, 2));
      good.loseData();
    },
    freeze: (label) => clocks.get(label)?.stop(),
    thaw: (label) => clocks.get(label)?.goOn(),
  },
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
