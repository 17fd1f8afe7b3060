import type { Ending, WindowIdentity } from "@sole-writer/core";
import { batcher } from "./batcher.js";
import type { Connection } from "./connection.js";
import type { ClaimHome } from "./home.js";
import type { ProcessLease } from "./lease.js";
import { reasonOf, storable } from "./payload.js";
import { sharedSignal } from "./shared-signal.js";
import { type SettledRow, settleClaims, wereSettled } from "./sql/settle.js";
import { letGo } from "./sql/sweep.js";
import { type ClaimTerm, claimValues } from "./term.js";
import type { TermRegister } from "./term-register.js";

interface Ended {
  readonly term: ClaimTerm;
  readonly ending: Ending;
  readonly window: WindowIdentity | undefined;
  readonly signal: AbortSignal;
}

const mostInBatch = 500;
/** Longest time in ms for the statement behind an ending; a caller may give up earlier. */
const limitMs = 30_000;
const letGoMs = 5_000;

/** Records endings; those that meet travel as one. */
export function endings(
  home: ClaimHome,
  connection: Connection,
  lease: ProcessLease,
  register: TermRegister,
) {
  const letting = new Set<Promise<void>>();

  const settles = batcher<Ended, boolean>(mostInBatch, async (ended) => {
    const { graphs, fences, leases, units, lanes } = claimValues(ended.map(({ term }) => term));
    const { signal, release } = sharedSignal(ended.map((one) => one.signal));
    const [first] = ended;
    const what = home.what("release", ended.length === 1 ? first?.term.graph : undefined);
    const kinds = ended.map(({ ending }) => ending.kind);
    const reasons = ended.map(({ ending }) => reasonIn(ending));
    const values = [
      home.app,
      graphs,
      fences,
      leases,
      units,
      lanes,
      kinds,
      reasons,
      ended.map(({ ending }) => valueIn(ending)),
      ended.map(({ ending }) =>
        ending.kind === "failed" ? (ending.retryAt?.toISOString() ?? null) : null,
      ),
      ended.map(({ window }) => window?.id ?? null),
      ended.map(({ window }) => window?.at?.toISOString() ?? null),
    ];
    const limits = { limitMs, signal, what };
    const settled = new Set<number>();
    const ask = () => connection.tryRun<SettledRow>(settleClaims, values, limits);
    try {
      const first = await ask();
      // A connection that died unseen: most likely nothing was done, and perhaps all of it.
      const isSecond = first.kind === "unanswered" && first.wasIdle && !signal.aborted;
      const answer = isSecond ? await ask() : first;
      if (answer.kind !== "rows") throw answer.error;
      for (const { n, has_unit: hasUnit } of answer.rows)
        if (hasUnit === (ended[n - 1]?.term.unit !== undefined)) settled.add(n);
      if (isSecond && settled.size < ended.length)
        for (const { n } of await connection.run<{ n: number }>(
          wereSettled,
          [home.app, graphs, fences, leases, units, kinds, reasons],
          limits,
        ))
          settled.add(n);
      return ended.map((_, index) => settled.has(index + 1));
    } finally {
      release();
    }
  });

  async function letGoOf(term: ClaimTerm): Promise<void> {
    const { graphs, fences, leases, units } = claimValues([term]);
    const what = home.what("let go of", term.graph);
    const answer = await connection.tryRun(letGo, [home.app, graphs, fences, leases, units], {
      limitMs: letGoMs,
      what,
    });
    // What cannot be let go of ends with its lease, if nothing new is claimed by that.
    if (answer.kind !== "rows") lease.retire(term.leaseId);
    register.remove(term);
  }

  return {
    async settle(
      term: ClaimTerm,
      ending: Ending,
      window: WindowIdentity | undefined,
      signal: AbortSignal,
    ): Promise<"settled" | "gone"> {
      const isSettled = await settles.ask({ term, ending, window, signal });
      if (!isSettled) return "gone";
      register.remove(term);
      return "settled";
    },
    /** The work has ended, and its ending could not be recorded. */
    letGo(term: ClaimTerm): void {
      const done: Promise<void> = letGoOf(term).finally(() => letting.delete(done));
      letting.add(done);
    },
    async rested(): Promise<void> {
      await settles.rested();
      await Promise.all(letting);
    },
  };
}

function reasonIn(ending: Ending): string | null {
  if (ending.kind === "failed") return reasonOf(ending.error);
  if (ending.kind === "handed-back") return reasonOf(ending.reason);
  return null;
}

function valueIn(ending: Ending): string | null {
  if (ending.kind === "done") return ending.result === undefined ? null : storable(ending.result);
  if (ending.kind === "waiting") return storable(ending.on);
  return null;
}
