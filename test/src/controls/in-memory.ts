import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import {
  AcquireAbortedError,
  type Coordinator,
  type Holder,
  isBackendError,
  isGrantLost,
  refuse,
} from "@sole-writer/core";
import { type MemoryBackend, type MemorySettings, memoryBackend } from "../factories/memory.js";
import { altered, answering } from "./altered.js";

type Broken = (options: OpenOptions, backend: MemoryBackend) => Coordinator;

/**
 * Coordinators that are broken on purpose, each in one way. All stand on the honest one in memory, so
 * what the suite finds is what was broken here.
 */
export const brokenInMemory = {
  forgetsWindows(options, { open }) {
    const good = open(options);
    return answering(good, {
      ask: (graph, { window: _, minIntervalMs: __, ...asked }) => good.acquire(graph, asked),
    });
  },

  refusesWithoutName: (options, { open }) =>
    answering(open(options), {
      refusal: ({ graph, reason }) => refuse({ graph, reason }, `"${graph}" is busy.`),
    }),

  namesTheFirstHolderForEver(options, { open }) {
    let first: Holder | undefined;
    return answering(open(options), {
      refusal({ graph, reason, holder }) {
        first ??= holder;
        return refuse({ graph, reason, ...(first && { holder: first }) });
      },
    });
  },

  callsAnErrorBusy(options, { open }) {
    const good = open(options);
    return answering(good, {
      async ask(graph, asked) {
        try {
          return await good.acquire(graph, asked);
        } catch (error) {
          if (!isBackendError(error)) throw error;
          return refuse({ graph, reason: "held" });
        }
      },
    });
  },

  keepsTheGraphWhenWorkFails: (options, { open }) =>
    answering(open(options), {
      grant: (grant) =>
        altered(grant, {
          settle: async (ending) => (ending.kind === "failed" ? undefined : grant.settle(ending)),
        }),
    }),

  sharesItsKeysBetweenApplications: (options, { open }) => open({ ...options, app: "every app" }),

  ratesItsHandOverTooFast(options, { open }) {
    const good = open(options, 8_000);
    const handover = { processKilledMs: 500, hostVanishedMs: 500 };
    return altered(good, { guarantees: { ...good.guarantees, handover } });
  },

  neverTellsALoss: (options, { open }) =>
    answering(open(options), {
      grant: (grant) => altered(grant, { signal: new AbortController().signal }),
    }),

  countsItsFencesDown(options, { open }) {
    let next = 1_000_000n;
    return answering(open(options), {
      grant(grant) {
        next -= 1n;
        return altered(grant, { fence: next });
      },
    });
  },

  releasesByKeyAlone: (options, { open, store }) =>
    answering(open(options), {
      grant: (grant) =>
        altered(grant, {
          async settle(ending) {
            try {
              await grant.settle(ending);
            } catch (error) {
              const record = store.graphs(options.app).get(grant.graph);
              if (record && isGrantLost(error)) delete record.holder;
              throw error;
            }
          },
        }),
    }),

  cutsNamesShort(options, { open }) {
    const good = open(options);
    return answering(good, {
      ask: (graph, asked) => good.acquire(graph.slice(0, 63), asked),
    });
  },

  asksBeforeItLooksAtTheName(options, { open }) {
    const good = open(options);
    return answering(good, {
      async ask(graph, asked) {
        await good.inspect();
        return good.acquire(graph, asked);
      },
    });
  },

  leavesAnOrphanWhenGivenUp(options, { open }) {
    const good = open(options);
    return answering(good, {
      async ask(graph, { signal, ...asked }) {
        const givenUp = () => new AcquireAbortedError(`The acquire of "${graph}" was given up.`);
        if (signal?.aborted) throw givenUp();
        const answer = await good.acquire(graph, asked);
        if (signal?.aborted) throw givenUp();
        return answer;
      },
    });
  },

  releasesWhenToldToStop: (options, { open }) =>
    answering(open(options), {
      grant(grant, { signal }) {
        const letGo = () => void grant.settle({ kind: "handed-back", reason: "told to stop" });
        for (const stop of [grant.draining, signal]) stop?.addEventListener("abort", letGo);
        return grant;
      },
    }),
} satisfies Record<string, Broken>;

/** A factory for one of them, on a backend of its own. */
export function inMemory(broken: Broken): CoordinatorFactory<MemorySettings> {
  const backend = memoryBackend();
  return backend.factory((options) => broken(options, backend));
}
