import { type Grant, GrantLostError, isGrantLost } from "@sole-writer/core";
import type { Leftovers } from "./run-scope.js";

/** What to throw when the grant was lost: the loss itself, or one that also names the nodes left. */
export function runLoss(grant: Grant, leftovers: Leftovers): unknown {
  const loss: unknown = grant.signal.reason;
  const { discarded, stillRunning } = leftovers;
  if (!isGrantLost(loss) || (discarded.length === 0 && stillRunning.length === 0)) return loss;
  const { graph, fence, reason } = loss;
  const parts = [
    ...(discarded.length > 0 ? [`thrown away: the result of ${discarded.join(", ")}`] : []),
    ...(stillRunning.length > 0 ? [`still running: ${stillRunning.join(", ")}`] : []),
  ];
  const detail = `${reason}; nodes did not obey the abort (${parts.join("; ")})`;
  const named = new GrantLostError(
    { graph, fence, reason, where: "runGraph", detail },
    { cause: loss },
  );
  return Object.assign(named, leftovers);
}

/**
 * The nodes that a lost run left behind: set on the `GrantLostError` that `runGraph` throws when there
 * were any.
 */
export function leftoversOf(error: unknown): Leftovers | undefined {
  if (!isGrantLost(error) || !("discarded" in error) || !("stillRunning" in error))
    return undefined;
  const { discarded, stillRunning } = error;
  if (!Array.isArray(discarded) || !Array.isArray(stillRunning)) return undefined;
  return { discarded: discarded.map(String), stillRunning: stillRunning.map(String) };
}
