import type { Connection } from "./connection.js";
import type { ClaimHome } from "./home.js";
import { removeKept } from "./sql/units.js";

const mostInBatch = 500;
/** How often in ms a process looks for units that were kept long enough. */
const lookEveryMs = 30_000;
/** Between two full batches, so that claims come in between. */
const betweenMs = 200;

/** Removes units that were kept long enough, in batches, beside the claims of this process. */
export function retention(home: ClaimHome, connection: Connection, limitMs: number) {
  let lookAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;

  async function remove(): Promise<void> {
    const what = home.what("remove finished units of");
    const answer = await connection.tryRun(removeKept, [mostInBatch], { limitMs, what });
    const isFull = answer.kind === "rows" && answer.rows.length === mostInBatch;
    lookAt = performance.now() + (isFull ? betweenMs : lookEveryMs * (0.5 + Math.random()));
  }

  return {
    /** Called with every claim; most times it does nothing. */
    look(): void {
      if (isLooking || performance.now() < lookAt) return;
      isLooking = true;
      void remove().finally(() => {
        isLooking = false;
      });
    },
  };
}
