import type { Clock } from "../../src/clock.js";
import type { Ending, GraphStatus } from "../../src/index.js";
import type {
  Renewal,
  TakeAnswer,
  TakeRequest,
  Term,
  TermLife,
  TermPort,
} from "../../src/term-port.js";
import type { WindowIdentity } from "../../src/window.js";

export const lease: TermLife = {
  kind: "lease",
  ttlMs: 1_000,
  safetyMarginMs: 100,
  renewEveryMs: 300,
  renewTimeoutMs: 200,
};
export const session: TermLife = { ...lease, kind: "session" };

/** A strategy that does as the test says: it grants, confirms and settles everything until told otherwise. */
export interface ScriptedPort extends TermPort {
  onTake(request: TakeRequest): Promise<TakeAnswer<Term>>;
  onRenew(terms: readonly Term[], signal: AbortSignal): Promise<readonly Renewal[]>;
  onSettle(term: Term, ending: Ending, signal: AbortSignal): Promise<"settled" | "gone">;
  onRead(signal: AbortSignal): Promise<readonly GraphStatus[]>;
  onClose(): Promise<void>;
  readonly takes: TakeRequest[];
  readonly renews: { readonly atMs: number; readonly graphs: readonly string[] }[];
  readonly settles: {
    readonly term: Term;
    readonly ending: Ending;
    readonly window: WindowIdentity | undefined;
  }[];
  readonly abandoned: Term[];
  closes: number;
  /** The next term for `graph`. */
  term(graph: string): Term;
}

export function scriptedPort(clock: Clock, life: TermLife = lease): ScriptedPort {
  let fence = 0n;
  const port: ScriptedPort = {
    strategy: "scripted",
    backend: "script",
    guarantees: {
      survivesCrash: false,
      backlog: false,
      frozenHolder: "is-replaced",
      handover: { processKilledMs: life.ttlMs, hostVanishedMs: life.ttlMs },
      lossToldWithinMs: life.ttlMs - life.safetyMarginMs,
      scope: "process",
    },
    life,
    takes: [],
    renews: [],
    settles: [],
    abandoned: [],
    closes: 0,
    term(graph) {
      fence += 1n;
      return { graph, fence, since: new Date(0) };
    },
    async onTake(request) {
      request.sending();
      return { taken: true, term: port.term(request.graph) };
    },
    onRenew: async (terms) => terms.map(() => ({ state: "held" })),
    onSettle: async () => "settled",
    onRead: async () => [],
    onClose: async () => {},
    take(request) {
      port.takes.push(request);
      return port.onTake(request);
    },
    renew(terms, signal) {
      port.renews.push({ atMs: clock.now(), graphs: terms.map((term) => term.graph) });
      return port.onRenew(terms, signal);
    },
    settle(term, ending, window, signal) {
      port.settles.push({ term, ending, window });
      return port.onSettle(term, ending, signal);
    },
    abandon(term) {
      port.abandoned.push(term);
    },
    read: (_graph, signal) => port.onRead(signal),
    prove: async () => [],
    close() {
      port.closes += 1;
      return port.onClose();
    },
  };
  return port;
}
