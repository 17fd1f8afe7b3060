import { type Clock, systemClock } from "../clock.js";
import type { Coordinator, GraphStatus, Guarantees } from "../coordinator.js";
import { assertDurationMs, assertShorterMs } from "../durations.js";
import { coordinatorOver } from "../engine/coordinator-over.js";
import { BackendError } from "../errors.js";
import type { Observer } from "../events.js";
import { nextFence } from "../fence.js";
import { newHolder } from "../holder.js";
import type { Term, TermPort } from "../term-port.js";
import { windowHasRun } from "../window.js";
import { type MemoryRecord, type MemoryStore, memoryStore } from "./memory-store.js";

export interface MemoryCoordinatorOptions {
  /** Default `"test"`. */
  readonly app?: string;
  /** Share one between coordinators that stand for replicas. Default: a store of its own. */
  readonly store?: MemoryStore;
  readonly label?: string;
  /** Life of a lease in ms. Default 10,000. */
  readonly ttlMs?: number;
  /** Default: a third of `ttlMs`. */
  readonly renewEveryMs?: number;
  readonly acquireTimeoutMs?: number;
  readonly onEvent?: Observer;
  /** Default: the store's clock, or the system's. */
  readonly clock?: Clock;
}

/**
 * A coordinator without a server, for an application's unit tests. It refuses, expires, loses and fences
 * as the real ones do, inside one process: `guarantees.scope` is `"process"`.
 * @throws {InvalidOptionError} for options that make no sense.
 */
export function memoryCoordinator(options: MemoryCoordinatorOptions = {}): Coordinator {
  const clock = options.clock ?? options.store?.clock ?? systemClock();
  const store = options.store ?? memoryStore(clock);
  const ttlMs = options.ttlMs ?? 10_000;
  assertDurationMs("ttlMs", ttlMs);
  const renewEveryMs = options.renewEveryMs ?? Math.max(Math.floor(ttlMs / 3), 1);
  assertDurationMs("renewEveryMs", renewEveryMs);
  assertShorterMs(
    "renewEveryMs",
    renewEveryMs,
    "ttlMs",
    ttlMs,
    "a lease must be renewed before it ends",
  );
  const holder = newHolder(options.label);
  const safetyMarginMs = Math.floor(ttlMs / 10);
  const guarantees: Guarantees = {
    survivesCrash: false,
    backlog: false,
    frozenHolder: "is-replaced",
    handover: { processKilledMs: ttlMs, hostVanishedMs: ttlMs },
    lossToldWithinMs: ttlMs - safetyMarginMs,
    scope: "process",
  };

  function graphs(): Map<string, MemoryRecord> {
    if (store.fault)
      throw new BackendError(
        "BACKEND_UNREACHABLE",
        `The memory store is down: ${store.fault.message}.`,
        { cause: store.fault },
      );
    return store.graphs(options.app ?? "test");
  }
  const isLive = (record: MemoryRecord | undefined) =>
    record?.holder !== undefined && record.expiresAt > store.clock.now();
  const wallDate = () => new Date(Number(store.clock.wallMicros() / 1000n));
  function ownRecord(term: Term): MemoryRecord | undefined {
    const record = graphs().get(term.graph);
    return record &&
      isLive(record) &&
      record.holder?.id === holder.id &&
      record.fence === term.fence
      ? record
      : undefined;
  }

  const port: TermPort = {
    strategy: "in-process",
    backend: "memory",
    guarantees,
    life: { kind: "lease", ttlMs, safetyMarginMs, renewEveryMs, renewTimeoutMs: renewEveryMs },
    async take({ graph, window, minIntervalMs, sending }) {
      sending();
      const all = graphs();
      const record = all.get(graph);
      if (record && isLive(record) && record.holder)
        return { taken: false, reason: "held", holder: record.holder };
      const ran = window && windowHasRun(window, record?.lastWindow);
      const recent =
        minIntervalMs !== undefined &&
        record?.lastDone &&
        store.clock.now() - record.lastDone.at < minIntervalMs;
      if (ran || recent) return { taken: false, reason: "already-ran" };
      const fence = nextFence(record?.fence, store.clock.wallMicros());
      const since = wallDate();
      all.set(graph, {
        ...record,
        fence,
        holder: { ...holder, since, fence },
        takenAt: store.clock.now(),
        expiresAt: store.clock.now() + ttlMs,
      });
      return { taken: true, term: { graph, fence, since } };
    },
    async renew(terms) {
      return terms.map((term) => {
        const record = ownRecord(term);
        if (!record)
          return { state: "gone", cause: new Error("the store knows another holder, or none") };
        record.expiresAt = store.clock.now() + ttlMs;
        return { state: "held" };
      });
    },
    async settle(term, ending, window) {
      const record = ownRecord(term);
      if (!record) return "gone";
      delete record.holder;
      if (ending.kind === "done") {
        record.lastDone = { at: store.clock.now(), date: wallDate() };
        if (window) record.lastWindow = window;
      }
      return "settled";
    },
    abandon() {},
    async read(graph) {
      const found = [...graphs()].filter(([name]) => graph === undefined || name === graph);
      return found.map(([name, record]) => status(name, record));
    },
    prove: async () => [],
    close: async () => {},
  };

  function status(graph: string, record: MemoryRecord): GraphStatus {
    const { holder: held, fence, lastWindow, lastDone } = record;
    const live = isLive(record) && held;
    return {
      graph,
      state: live ? "held" : "free",
      fence,
      ...(live && { holder: held }),
      ...(live && { heldForMs: store.clock.now() - record.takenAt }),
      ...(lastWindow && { lastWindow: lastWindow.id }),
      ...(lastDone && { lastDoneAt: lastDone.date }),
    };
  }

  const { acquireTimeoutMs, onEvent } = options;
  return coordinatorOver(port, {
    holder,
    clock,
    ...(acquireTimeoutMs !== undefined && { acquireTimeoutMs }),
    ...(onEvent && { onEvent }),
  });
}
