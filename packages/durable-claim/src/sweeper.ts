import type { Connection, RunLimits } from "./connection.js";
import { endLeases, forgetLeases, type Reclaimed, reclaim } from "./sql/sweep.js";

/** Gives free what was claimed under leases that are over. */
export interface Sweeper {
  /** Sweeps, or joins the sweep under way. Resolves to whether anything was given free. */
  sweep(limits: RunLimits): Promise<boolean>;
}

export function sweeper(connection: Connection): Sweeper {
  let underWay: Promise<boolean> | undefined;

  async function sweepOnce(limits: RunLimits): Promise<boolean> {
    const ended = await connection.run<{ id: string }>(endLeases, [], limits);
    if (ended.length === 0) return false;
    const ids = ended.map(({ id }) => id);
    const [given] = await connection.run<Reclaimed>(reclaim, [ids], limits);
    await connection.run(forgetLeases, [ids], limits);
    return given !== undefined && given.units + given.lanes > 0;
  }

  return {
    sweep(limits) {
      underWay ??= sweepOnce(limits).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
