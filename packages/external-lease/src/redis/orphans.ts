import type { Connection } from "./connection.js";
import type { GraphKeys } from "./keys.js";
import { settle } from "./scripts/settle.js";

interface Orphan {
  readonly graph: string;
  readonly keys: GraphKeys;
  readonly attempt: string;
  /** When it is gone by itself, whatever came of it. */
  readonly overAt: number;
}

const pauseMs = 200;
const tryMs = 1_000;

/**
 * Leases that this process may have left behind: a take whose answer never came, a release that failed. They
 * end by themselves; until then they are taken away as soon as Redis answers.
 */
export function orphans(
  connection: Connection,
  { ttlMs, what }: { readonly ttlMs: number; readonly what: string },
) {
  const left = new Set<Orphan>();
  let isWorking = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function remove(limitMs: number): Promise<void> {
    const now = performance.now();
    for (const orphan of left) if (orphan.overAt < now) left.delete(orphan);
    const asked = [...left];
    if (asked.length === 0) return;
    const answers = await connection.run(
      asked.map(({ keys, attempt }) => ({
        script: settle,
        keys: [keys.graph, keys.lease],
        args: () => [attempt, "0", "", ""],
      })),
      { limitMs, what },
    );
    answers.forEach((answer, index) => {
      const orphan = asked[index];
      if (orphan && "reply" in answer) left.delete(orphan);
    });
  }

  async function tryOn(): Promise<void> {
    try {
      await remove(tryMs);
    } catch {
      // Redis is out of reach; the next turn asks again.
    }
    isWorking = false;
    if (left.size > 0 && !isClosed) timer = setTimeout(start, pauseMs).unref();
  }

  function start(): void {
    if (isWorking || isClosed) return;
    isWorking = true;
    void tryOn();
  }

  return {
    add(graph: string, keys: GraphKeys, attempt: string): void {
      left.add({ graph, keys, attempt, overAt: performance.now() + ttlMs + tryMs });
      start();
    },
    /** Before a graph is asked for: an orphan of ours must not pass for a rival. */
    async gone(graph: string, limitMs: number): Promise<void> {
      if (![...left].some((orphan) => orphan.graph === graph)) return;
      await remove(limitMs);
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
