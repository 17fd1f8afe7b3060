import type { Coordinator } from "../coordinator.js";
import type { Term, TermPort } from "../term-port.js";
import { type CoordinatorOptions, openEngine } from "./engine.js";

/**
 * Makes a `Coordinator` of a strategy's port: everything that is the same in every strategy.
 * @throws {InvalidOptionError} for a duration that makes no sense.
 */
export function coordinatorOver<T extends Term>(
  port: TermPort<T>,
  options: CoordinatorOptions,
): Coordinator {
  return openEngine(port, options).coordinator;
}
