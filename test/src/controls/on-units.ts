import type { CoordinatorFactory, OpenOptions } from "@sole-writer/conformance";
import type { DurableCoordinator, Grant } from "@sole-writer/core";
import { durableClaim } from "@sole-writer/durable-claim";
import { altered } from "./altered.js";

/** Which control a replica opens, and where. */
export interface UnitsControl {
  readonly control: keyof typeof onUnits;
  readonly url: string;
}

type Broken = (options: OpenOptions<UnitsControl>) => DurableCoordinator;

const honest: Broken = ({ app, label, acquireTimeoutMs, onEvent, settings }) => {
  const times = { acquireTimeoutMs, leaseMs: 1_500, retryFirstMs: 100 };
  return durableClaim({ app, label, onEvent, url: settings.url, ...times });
};

/** Coordinators with units, and what is wrong with each. */
export const onUnits = {
  /** Says that it stored every unit of a batch, and stored all but the last. */
  forgetsAUnit(options) {
    const base = honest(options);
    return altered(base, {
      async submitMany(units, how) {
        const stored = await base.submitMany(units.length > 1 ? units.slice(0, -1) : units, how);
        return units.map(
          ({ graph }, index) => stored[index] ?? { id: "999999", graph, isNew: true },
        );
      },
    });
  },

  /** Takes a hand-back for a failure. */
  countsAHandBack: (options) =>
    grantsOf(honest(options), (grant) =>
      altered(grant, {
        settle: (ending) =>
          grant.settle(
            ending.kind === "handed-back"
              ? { kind: "failed", error: ending.reason, retryAt: new Date() }
              : ending,
          ),
      }),
    ),

  /** Counts the errors that it catches, and so not the attempt of a process that died. */
  countsErrorsAlone: (options) =>
    grantsOf(honest(options), (grant) => {
      const { unit } = grant;
      return unit ? altered(grant, { unit: { ...unit, attempt: 1 } }) : grant;
    }),

  /** Takes a key for the unit that had it, whatever has become of that. */
  keepsAKeyForEver(options) {
    const base = honest(options);
    const known = new Map<string, string>();
    return altered(base, {
      async submitMany(units, how) {
        const stored = await base.submitMany(units, how);
        return stored.map((one, index) => {
          const key = units[index]?.key ?? one.id;
          const first = known.get(`${one.graph}/${key}`);
          known.set(`${one.graph}/${key}`, first ?? one.id);
          return first === undefined ? one : { ...one, id: first, isNew: false };
        });
      },
    });
  },

  /** Has a backlog, and says in its guarantees that it has none. */
  hidesItsBacklog(options) {
    const base = honest(options);
    return altered(base, { guarantees: { ...base.guarantees, backlog: false } });
  },
} satisfies Record<string, Broken>;

function grantsOf(base: DurableCoordinator, change: (grant: Grant) => Grant): DurableCoordinator {
  return altered(base, { claim: async (how) => (await base.claim(how)).map(change) });
}

/** Called in every replica. */
export function open(options: OpenOptions<UnitsControl>): DurableCoordinator {
  return onUnits[options.settings.control](options);
}

/** A factory for one of them. */
export function onUnitsFactory(
  control: UnitsControl["control"],
  url: string,
): CoordinatorFactory<UnitsControl> {
  return {
    module: new URL("../../dist/controls/on-units.js", import.meta.url),
    settings: { control, url },
  };
}
