import { AsyncLocalStorage } from "node:async_hooks";
import type { Grant } from "@sole-writer/core";
import type { RunScope } from "./run-scope.js";

/** Which run the code at hand belongs to, and which node of it. */
interface Place {
  readonly scope: RunScope;
  /** The node's place in the graph and its task, as LangGraph writes it: `outer:<task>|inner:<task>`. */
  readonly node?: string | undefined;
}

const places = new AsyncLocalStorage<Place>();

/** Runs `work`, and everything that it starts, as a part of the run. */
export function within<T>(place: Place, work: () => T): T {
  return places.run(place, work);
}

export function currentPlace(): Place | undefined {
  return places.getStore();
}

/**
 * The grant of the run that the calling node or tool belongs to; `undefined` outside of `runGraph`.
 *
 * For effects outside of the checkpoints: send `grant.fence` along, and let the other side refuse a
 * lower one; `grant.unit?.attempt` says whether the work may have been begun before.
 */
export function currentGrant(): Grant | undefined {
  return currentPlace()?.scope.grant;
}

/**
 * What `runGraph` puts into `config.configurable`, for code that is given a config and no async context.
 * The fence is a decimal string: configurables end up in traces, and a trace takes no bigint.
 */
export interface GrantConfigurable {
  readonly sole_writer_graph: string;
  readonly sole_writer_fence: string;
  /** How often the unit was started, this start included. Absent where the grant carries no unit. */
  readonly sole_writer_attempt?: number;
}

export function grantConfigurable(grant: Grant): GrantConfigurable {
  return {
    sole_writer_graph: grant.graph,
    sole_writer_fence: String(grant.fence),
    ...(grant.unit && { sole_writer_attempt: grant.unit.attempt }),
  };
}
