import { slackMs } from "../bounds.js";
import type { CoordinatorFactory, Open } from "../factory.js";
import { settlesWithin } from "../promises.js";
import { type LocalLink, localLink } from "../replica/local-link.js";
import { type ProcessLink, processLink } from "../replica/process-link.js";

/** A replica that runs, in a process of its own or in this one. */
export type AnyLink =
  | { readonly place: "process"; readonly link: ProcessLink }
  | { readonly place: "here"; readonly link: LocalLink };

/** The replicas of the suite. Processes are kept from case to case, since each costs a start. */
export interface Links {
  /** One that nobody uses. */
  get(place: AnyLink["place"]): Promise<AnyLink>;
  /** Gives it back, as new. False for one that did not let go in time; it is not used again. */
  giveBack(used: AnyLink): Promise<boolean>;
  close(): Promise<void>;
}

/** Longest time in ms for a replica to let go of everything it holds. */
const resetWithinMs = 4 * slackMs;

export function openLinks(factory: CoordinatorFactory, open: Open): Links {
  const idle: AnyLink[] = [];
  const all = new Set<ProcessLink>();

  async function start(): Promise<AnyLink> {
    const link = await processLink((pid) => factory.onSpawn?.(pid));
    all.add(link);
    void link.exited.then(() => all.delete(link));
    return { place: "process", link };
  }

  return {
    async get(place) {
      if (place === "here") return { place, link: localLink(open) };
      for (let kept = idle.pop(); kept; kept = idle.pop())
        if (kept.place === "process" && !kept.link.hasExited) return kept;
      return start();
    },
    async giveBack(used) {
      if (used.place === "process" && used.link.hasExited) return true;
      const reset = used.link.request("reset", {});
      const isAsNew = (await settlesWithin(resetWithinMs, reset)) && (await succeeds(reset));
      if (used.place === "process") {
        if (isAsNew && !used.link.hasExited) idle.push(used);
        else await used.link.kill();
      }
      return isAsNew;
    },
    async close() {
      await Promise.all([...all].map((link) => link.kill()));
    },
  };
}

async function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
