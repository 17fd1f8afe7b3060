import type { Coordinator } from "@sole-writer/core";
import type { Open } from "../factory.js";
import { type OraclePen, oraclePen } from "../oracle/record.js";
import { grantCommands } from "./host-grants.js";
import { runCommands } from "./host-runs.js";
import { unitCommands } from "./host-units.js";
import { plainError, plainHolder } from "./plain.js";
import type { Handlers, ReplicaEvent } from "./protocol.js";

/** What a replica needs of the place it lives in. */
export interface HostPlace {
  load(module: string | undefined): Promise<Open>;
  tell(event: ReplicaEvent): void;
  /** Called by `leave`, when every coordinator is closed. */
  left(): void;
}

/** A coordinator that was opened, and where its work bodies leave their traces. */
export interface OpenCoordinator {
  readonly app: string;
  readonly coordinator: Coordinator;
  readonly pen: OraclePen;
}

/** What the groups of commands share. */
export interface HostRoom {
  find(coordinator: string): OpenCoordinator;
  tell(event: ReplicaEvent): void;
}

/** The inside of a replica: obeys commands. It is the same in a process of its own and in the suite's. */
export function replicaHost(place: HostPlace): Handlers {
  const open = new Map<string, OpenCoordinator>();
  const room: HostRoom = {
    find(key) {
      const found = open.get(key);
      if (!found) throw new Error(`no coordinator ${key} is open in this replica`);
      return found;
    },
    tell: place.tell,
  };
  const grants = grantCommands(room);
  const runs = runCommands(room);

  async function reset(): Promise<undefined> {
    runs.finishAll();
    const all = [...open.values()];
    open.clear();
    await Promise.allSettled(all.map(({ coordinator }) => coordinator.close({ graceMs: 0 })));
    await runs.ended();
    grants.forget();
    for (const { pen } of all) pen.close();
    return undefined;
  }

  return {
    async open({ coordinator: key, module, oracle, ...options }) {
      const openCoordinator = await place.load(module);
      const coordinator = await openCoordinator({
        ...options,
        onEvent: (event) => {
          if (event.type === "lost")
            place.tell({ event: "observed-loss", coordinator: key, fence: event.fence });
        },
      });
      open.set(key, { app: options.app, coordinator, pen: oraclePen(oracle) });
      const { guarantees, strategy, backend, holder } = coordinator;
      const offersUnits = "submit" in coordinator || "claim" in coordinator;
      return { guarantees, strategy, backend, holder: plainHolder(holder), offersUnits };
    },
    ...grants.handlers,
    ...runs.handlers,
    ...unitCommands(room, grants.keep),
    async inspect({ coordinator, graph }) {
      try {
        const statuses = await room.find(coordinator).coordinator.inspect(graph);
        return { statuses: statuses.map((status) => ({ ...status })) };
      } catch (error) {
        return { error: plainError(error) };
      }
    },
    async preflight({ coordinator }) {
      try {
        const findings = await room.find(coordinator).coordinator.preflight();
        return { findings: findings.map((finding) => ({ ...finding })) };
      } catch (error) {
        return { error: plainError(error) };
      }
    },
    async close({ coordinator, graceMs }) {
      try {
        await room.find(coordinator).coordinator.close(graceMs === undefined ? {} : { graceMs });
        return undefined;
      } catch (error) {
        return plainError(error);
      }
    },
    reset,
    async resources() {
      return process.getActiveResourcesInfo();
    },
    async leave() {
      await reset();
      place.left();
      return undefined;
    },
  };
}
