/**
 * durable-claim: units of work as rows, claimed one writer per graph under a lease.
 *
 *     submit ──▶ unit ──▶ claim: the lane of the graph, its first due unit, a fence ──▶ work ──▶ ending
 *                  ▲                                                                     │
 *                  └──── retry after a pause, hand-back, or a sweep after a crash ◀──────┘
 *
 * - The lane is the row of the graph. Whoever gets its lock with SKIP LOCKED writes itself in; nobody waits.
 * - A claim points to the lease of its process: one row, renewed by one update, however many claims there
 *   are. When it is over, whoever looks next ends it, and then gives free what pointed to it.
 * - Every change names the exact claim: unit, fence, lease. What comes too late changes nothing.
 * - All times that count are the server's; ours only tell how long a claim may still be trusted.
 *
 * A frozen process is replaced when its lease is over, and may wake as one that thinks it still writes: it is
 * told at once, and what it wrote is refused where the fence is checked.
 */
import { claimingCoordinatorOver, type DurableCoordinator, newHolder } from "@sole-writer/core";
import type { ClaimHome } from "./home.js";
import { checkedOptions, type DurableClaimOptions } from "./options.js";
import { claimPort } from "./port.js";
import { retention } from "./retention.js";
import { submitter } from "./submit.js";
import { teller } from "./teller.js";
import { unitDesk } from "./units.js";
import { channelOf, waker } from "./waker.js";

/**
 * Opens the durable-claim strategy on PostgreSQL 14 or newer. Returns at once and connects when it is first
 * asked.
 * @throws {InvalidOptionError} for options that make no sense, before anything is connected
 */
export function durableClaim(options: DurableClaimOptions): DurableCoordinator {
  const checked = checkedOptions(options);
  const { app, address, acquireTimeoutMs } = checked;
  const holder = newHolder(options.label);
  const home: ClaimHome = {
    ...checked,
    holder,
    what: (verb, graph) =>
      `Could not ${verb} ${graph === undefined ? `"${app}"` : `"${graph}"`} (durable-claim on postgres at ${address})`,
  };
  const { port, claims, ends } = claimPort(home, checked, {
    isClosing: () => closing.aborted,
    handedBack: () => word.soon(),
    rested: () => submits.rested(),
  });
  const { coordinator, claim, closing, askOpen } = claimingCoordinatorOver(port, {
    holder,
    acquireTimeoutMs,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  const awake = waker({ ...checked, holder, listens: checked.wake, closing });
  const word = teller(channelOf(app), () => submits.tell());
  const submits = submitter(home, ends, word, acquireTimeoutMs);
  const desk = unitDesk(home, ends, acquireTimeoutMs, () => {
    awake.wake();
    word.soon();
  });
  const keeper = retention(home, claims, acquireTimeoutMs);

  async function submitMany(...[units, how]: Parameters<DurableCoordinator["submitMany"]>) {
    const submitted = await askOpen("submit", () => submits.submitMany(units, how));
    if (!how?.client && submitted.some(({ isNew }) => isNew)) awake.wake();
    return submitted;
  }

  const durable: DurableCoordinator = {
    ...coordinator,
    submitMany,
    async submit(graph, unit, how) {
      const [submitted] = await submitMany([{ ...unit, graph }], how);
      if (!submitted) throw new Error("a submit was not answered");
      return submitted;
    },
    async claim(how) {
      try {
        const grants = await claim(how);
        awake.asked("well");
        keeper.look();
        return grants;
      } catch (error) {
        awake.asked("badly");
        throw error;
      }
    },
    whenDue: (how = {}) => awake.whenDue(how),
    units: (query) => askOpen("read units", () => desk.units(query)),
    backlog: (graph) => askOpen("count units", () => desk.backlog(graph)),
    retry: (id) => askOpen("retry a unit", () => desk.retry(id)),
    cancel: (id, reason) => askOpen("cancel a unit", () => desk.cancel(id, reason)),
    discard: (id) => askOpen("discard a unit", () => desk.discard(id)),
    resume: (id, value) => askOpen("resume a unit", () => desk.resume(id, value)),
    async close(how) {
      await coordinator.close(how);
      await awake.close();
    },
    [Symbol.asyncDispose]: () => durable.close(),
  };
  return durable;
}
