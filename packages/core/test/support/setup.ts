import {
  type CoordinatorEvent,
  type CoordinatorOptions,
  coordinatorOver,
  newHolder,
} from "../../src/index.js";
import type { TermLife } from "../../src/term-port.js";
import { type ManualClock, manualClock } from "../../src/testing/index.js";
import { lease, type ScriptedPort, scriptedPort } from "./scripted-port.js";

/** A coordinator over a scripted port, on a clock that the test moves. */
export function setup(
  life: TermLife = lease,
  options: Omit<CoordinatorOptions, "holder" | "clock" | "onEvent"> = {},
) {
  const clock: ManualClock = manualClock();
  const port: ScriptedPort = scriptedPort(clock, life);
  const events: CoordinatorEvent[] = [];
  const coordinator = coordinatorOver(port, {
    holder: newHolder("me"),
    clock,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const typesOf = () => events.map((event) => event.type);
  return { clock, port, events, typesOf, coordinator };
}
