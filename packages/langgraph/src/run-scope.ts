import type { Grant } from "@sole-writer/core";

/** What a run left behind when it ended. Both lists name nodes: `pack`, or `outer|inner` in a subgraph. */
export interface Leftovers {
  /** Nodes that finished after the run was over: they ignored the abort, and their results are gone. */
  readonly discarded: readonly string[];
  /** Nodes that had still not finished when `settleTimeoutMs` was over. */
  readonly stillRunning: readonly string[];
}

/**
 * The gate of one run: every node body and every checkpoint write goes through it.
 *
 * It lets nothing start that the grant does not cover, and it counts what has started. Once it is closed
 * nothing can start any more, so the first moment with nothing under way is the end of the run: the
 * moment `quiet` waits for.
 */
export interface RunScope {
  readonly grant: Grant;
  /**
   * Starts a body, of `node` where it has a name of its own.
   * @throws {GrantLostError} instead, when the grant is not certain, and what `close` was given afterwards.
   */
  body<T>(node: string | undefined, start: () => T): T;
  /** Starts a write, or rejects as `body` throws. */
  write<T>(start: () => Promise<T>): Promise<T>;
  /** From now on everything is refused with `reason`. The first reason stays. */
  close(reason: Error): void;
  /** After `close`: resolves when everything has ended, or after `timeoutMs`. */
  quiet(timeoutMs: number | undefined): Promise<Leftovers>;
}

export function runScope(grant: Grant): RunScope {
  const underWay = new Set<{ readonly node: string | undefined }>();
  const discarded = new Set<string>();
  let closed: Error | undefined;
  let whenQuiet: (() => void) | undefined;

  function pass(): void {
    if (closed) throw closed;
    // By the local clock: after a stalled event loop the timers that tell of the loss are late as well.
    grant.assertHeld();
  }

  function begin(node: string | undefined) {
    const entry = { node };
    underWay.add(entry);
    return (finished: boolean) => {
      underWay.delete(entry);
      if (finished && closed && node) discarded.add(node);
      if (underWay.size === 0) whenQuiet?.();
    };
  }

  function counted<T>(node: string | undefined, start: () => T): T {
    const end = begin(node);
    let result: T;
    try {
      result = start();
    } catch (error) {
      end(false);
      throw error;
    }
    if (isThenable(result)) {
      // Also keeps the rejection of a body that nobody waits for any more from ending the process.
      result.then(
        () => end(true),
        () => end(false),
      );
    } else end(true);
    return result;
  }

  return {
    grant,
    body(node, start) {
      pass();
      return counted(node, start);
    },
    async write(start) {
      pass();
      return await counted(undefined, start);
    },
    close(reason) {
      closed ??= reason;
    },
    async quiet(timeoutMs) {
      if (underWay.size > 0) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          whenQuiet = resolve;
          if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
        });
        clearTimeout(timer);
      }
      const running = [...underWay].map(({ node }) => node ?? "a checkpoint write");
      return { discarded: [...discarded], stillRunning: [...new Set(running)] };
    },
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
