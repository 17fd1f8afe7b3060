import type { Coordinator } from "../coordinator.js";
import type { DurableCoordinator } from "../durable/durable-coordinator.js";
import type { ClaimPort, Term } from "../term-port.js";
import { claimAt } from "./claim.js";
import { type CoordinatorOptions, openEngine } from "./engine.js";

/** What a strategy with units builds its `DurableCoordinator` of. */
export interface ClaimingCoordinator {
  readonly coordinator: Coordinator;
  readonly claim: DurableCoordinator["claim"];
  /** Aborts when the coordinator begins to close. */
  readonly closing: AbortSignal;
  /**
   * Puts a question to the backend unless the coordinator is closed, and makes a typed error of whatever
   * it throws. `action` in words for the message: `submit to "g"`.
   */
  askOpen<R>(action: string, question: () => Promise<R>): Promise<R>;
}

/**
 * Makes a coordinator that can claim of the port of a strategy that keeps units.
 * @throws {InvalidOptionError} for a duration that makes no sense.
 */
export function claimingCoordinatorOver<T extends Term>(
  port: ClaimPort<T>,
  options: CoordinatorOptions,
): ClaimingCoordinator {
  const { coordinator, at, askOpen } = openEngine(port, options, port.exclusive);
  return { coordinator, claim: claimAt(at, port), closing: at.closing, askOpen };
}
