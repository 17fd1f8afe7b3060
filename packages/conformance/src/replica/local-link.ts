import type { Open } from "../factory.js";
import { replicaHost } from "./host.js";
import type { Commands, Handlers, Link, ReplicaEvent } from "./protocol.js";

/** A replica inside the suite's own process, for coordinators whose scope is the process. */
export interface LocalLink extends Link {
  /** From now on nothing it says is heard, as if its process were gone. */
  mute(): void;
}

/** What crosses is cloned, as it would be on the way to another process. */
export function localLink(open: Open): LocalLink {
  const listeners = new Set<(event: ReplicaEvent) => void>();
  let muted = false;
  const handlers: Handlers = replicaHost({
    load: async () => open,
    tell(event) {
      if (muted) return;
      const crossed = structuredClone(event);
      for (const listener of [...listeners]) listener(crossed);
    },
    left: () => undefined,
  });

  async function request<Op extends keyof Commands>(
    op: Op,
    ask: Commands[Op]["ask"],
  ): Promise<Commands[Op]["answer"]> {
    // Settings stay what they are: in one process they may hold a store that replicas share.
    const crossed = op === "open" ? ask : structuredClone(ask);
    return structuredClone(await handlers[op](crossed));
  }

  return {
    pid: process.pid,
    request,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    mute() {
      muted = true;
    },
  };
}
