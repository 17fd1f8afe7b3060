import type { Grant } from "@sole-writer/core";
import type { HostRoom, OpenCoordinator } from "./host.js";
import { endingOf, type PlainError, plainError, plainGrant, plainRefusal } from "./plain.js";
import type { Commands, GiveUp, Handlers } from "./protocol.js";

interface HeldGrant {
  readonly grant: Grant;
  /** The holder writes no more: the oracle's end of the run. Only the first counts. */
  end(): void;
}

type GrantHandlers = Pick<Handlers, "acquire" | "settle" | "assertHeld" | "confirmHeld">;

/** Commands on grants that the suite takes and settles by hand. While one is held, it counts as a run. */
export function grantCommands(room: HostRoom): {
  readonly handlers: GrantHandlers;
  keep(run: string, opened: OpenCoordinator, grant: Grant): void;
  forget(): void;
} {
  const held = new Map<string, HeldGrant>();

  function find(run: string): HeldGrant {
    const found = held.get(run);
    if (!found) throw new Error(`no grant ${run} in this replica`);
    return found;
  }

  function keep(run: string, { app, pen }: OpenCoordinator, grant: Grant): void {
    const { graph, fence } = grant;
    const facts = { app, graph, fence, pid: process.pid, run };
    let open = true;
    const end = () => {
      if (!open) return;
      open = false;
      pen.write({ ...facts, kind: "end", at: process.hrtime.bigint() });
    };
    pen.write({ ...facts, kind: "begin", at: process.hrtime.bigint() });
    held.set(run, { grant, end });
    whenAborted(grant.signal, () => {
      end();
      const at = process.hrtime.bigint();
      room.tell({ event: "lost", run, error: plainError(grant.signal.reason), at });
    });
    whenAborted(grant.draining, () => {
      room.tell({ event: "draining", run, at: process.hrtime.bigint() });
    });
  }

  async function acquire(ask: Commands["acquire"]["ask"]): Promise<Commands["acquire"]["answer"]> {
    const opened = room.find(ask.coordinator);
    const askedAt = process.hrtime.bigint();
    const times = () => ({ askedAt, answeredAt: process.hrtime.bigint() });
    try {
      const answer = await askFor(opened, ask);
      const answered = times();
      if (!answer.granted) return { kind: "refused", refusal: plainRefusal(answer), ...answered };
      keep(ask.run, opened, answer);
      return { ...plainGrant(answer), ...answered };
    } catch (error) {
      return { kind: "error", error: plainError(error), ...times() };
    }
  }

  return {
    keep,
    handlers: {
      acquire,
      async settle({ run, ending }) {
        const { grant, end } = find(run);
        end();
        return thrownBy(() =>
          ending === "dispose" ? grant[Symbol.asyncDispose]() : grant.settle(endingOf(ending)),
        );
      },
      assertHeld: async ({ run }) => thrownBy(() => find(run).grant.assertHeld()),
      confirmHeld: async ({ run }) => thrownBy(() => find(run).grant.confirmHeld()),
    },
    forget() {
      for (const { end } of held.values()) end();
      held.clear();
    },
  };
}

function askFor({ coordinator }: OpenCoordinator, ask: Commands["acquire"]["ask"]) {
  const { graph, options, giveUp } = ask;
  if (giveUp === undefined) return coordinator.acquire(graph, options);
  const abort = new AbortController();
  const stop = abortWhen(abort, giveUp);
  const answer = coordinator.acquire(graph, { ...options, signal: abort.signal });
  if (giveUp === "at-once") abort.abort(new Error("given up by the suite"));
  return answer.finally(stop);
}

function abortWhen(abort: AbortController, giveUp: GiveUp): () => void {
  const giveUpNow = () => abort.abort(new Error("given up by the suite"));
  if (giveUp === "before") giveUpNow();
  const timer = typeof giveUp === "number" ? setTimeout(giveUpNow, giveUp) : undefined;
  return () => clearTimeout(timer);
}

function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  // Not `once`: a signal that tells twice must be seen telling twice.
  else signal.addEventListener("abort", callback);
}

async function thrownBy(action: () => void | PromiseLike<void>): Promise<PlainError | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return plainError(error);
  }
}
