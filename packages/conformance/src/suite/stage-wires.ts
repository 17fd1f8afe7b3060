import { check } from "../check.js";
import type { Faults } from "../factory.js";
import { type CaseContext, pickFault, type WireToBackend } from "./context.js";
import { openWire, type Wire } from "./wire.js";

type WireParts = Pick<CaseContext, "wire" | "unreachable" | "silent"> & {
  /** Lets everything through again, so that what was opened can be closed. */
  heal(): Promise<void>;
  close(): Promise<void>;
};

/** The wires of one case, and the settings for a backend that is down or silent. */
export function stageWires(faults: Faults, isDemanded: boolean): WireParts {
  const open: Wire[] = [];
  const hasSettings = faults.unreachable !== undefined && faults.silent !== undefined;

  async function wire(): Promise<WireToBackend> {
    const { host, port, settings } = pickFault(faults, "network", isDemanded && !hasSettings);
    const made = await openWire({ host, port });
    open.push(made);
    return { ...made, settings: { value: settings(made.port) } };
  }

  async function broken(
    given: "unreachable" | "silent",
    breakIt: (made: Wire) => Promise<void> | void,
  ): Promise<{ readonly value: unknown }> {
    if (faults[given] !== undefined) return { value: faults[given] };
    if (!faults.network) {
      check(
        !isDemanded,
        `the factory has neither "faults.network" nor "faults.${given}", and a coordinator whose scope is "backend" must give one`,
      );
      return { value: pickFault(faults, given, false) };
    }
    const made = await wire();
    await breakIt(made);
    return made.settings;
  }

  return {
    wire,
    unreachable: () => broken("unreachable", (made) => made.shut()),
    silent: () => broken("silent", (made) => made.set("hole")),
    async heal() {
      for (const made of open) {
        made.set("pass");
        made.cut();
      }
    },
    async close() {
      await Promise.all(open.map((made) => made.shut()));
    },
  };
}
