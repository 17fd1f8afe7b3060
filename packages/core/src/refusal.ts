import type { Holder, Refusal } from "./grant.js";

type Facts = Omit<Refusal, "granted" | "message"> & { readonly window?: string };

/** Builds a refusal with its sentence. */
export function refuse(facts: Facts, message: string = sentence(facts)): Refusal {
  const { window: _, ...rest } = facts;
  return { granted: false, ...rest, message };
}

function sentence({ graph, reason, holder, keySharedWith, window }: Facts): string {
  if (reason === "nothing-due") return `Nothing is due for "${graph}".`;
  if (reason === "already-ran")
    return window === undefined
      ? `"${graph}" already ran less than minIntervalMs ago.`
      : `"${graph}" already ran for window ${window}, or for a later one.`;
  if (keySharedWith !== undefined)
    return `"${graph}" shares its lock key with "${keySharedWith}", which is held by ${describeHolder(holder)}; "${graph}" itself is not running.`;
  return `"${graph}" is held by ${describeHolder(holder)}.`;
}

/** A holder in words: label, since when, fence. */
export function describeHolder(holder: Holder | undefined): string {
  if (!holder) return "a holder that cannot be known";
  const since = holder.since ? ` since ${holder.since.toISOString()}` : "";
  const fence = holder.fence === undefined ? "" : ` (fence ${holder.fence})`;
  return `${holder.label}${since}${fence}`;
}
