import type { DurableCoordinator, Grant } from "@sole-writer/core";
import type { HostRoom, OpenCoordinator } from "./host.js";
import { plainError, plainGrant } from "./plain.js";
import type { Commands, Handlers, UnitsAnswer } from "./protocol.js";

type UnitHandlers = Pick<Handlers, "submit" | "claim" | "unit">;

/** Commands on units. `keep` makes a grant one that the suite settles by hand. */
export function unitCommands(
  room: HostRoom,
  keep: (run: string, opened: OpenCoordinator, grant: Grant) => void,
): UnitHandlers {
  /** A coordinator that offers no units throws here as its caller would see it. */
  const find = (key: string) => room.find(key).coordinator as DurableCoordinator;

  async function submit({ coordinator, units }: Commands["submit"]["ask"]) {
    return find(coordinator).submitMany(units);
  }

  async function claim({ coordinator, run, limit, graphs }: Commands["claim"]["ask"]) {
    const grants = await find(coordinator).claim({ limit, ...(graphs && { graphs }) });
    return grants.map((grant, index) => {
      const own = `${run}.${index}`;
      keep(own, room.find(coordinator), grant);
      const { unit } = grant;
      return { ...plainGrant(grant), run: own, ...(unit && { unit: { ...unit } }) };
    });
  }

  async function unit({ coordinator, what }: Commands["unit"]["ask"]): Promise<UnitsAnswer> {
    const durable = find(coordinator);
    switch (what.do) {
      case "read":
        return (await durable.units(what.query)).units;
      case "count":
        return durable.backlog();
      case "resume":
        return durable.resume(what.id, what.value);
      default:
        return durable[what.do](what.id);
    }
  }

  return {
    submit: (ask) => answered(submit(ask)),
    claim: (ask) => answered(claim(ask)),
    unit: (ask) => answered(unit(ask)),
  };
}

async function answered<T>(work: Promise<T>) {
  try {
    return { value: await work };
  } catch (error) {
    return { error: plainError(error) };
  }
}
