import type {
  Backlog,
  NewUnit,
  NewUnitOf,
  Submitted,
  Unit,
  UnitChange,
  UnitQuery,
  UnitRecord,
} from "@sole-writer/core";
import { answerWithinMs, pollEveryMs } from "../bounds.js";
import { check, inWords, LawBroken } from "../check.js";
import { pause, within } from "../promises.js";
import type { PlainError } from "../replica/plain.js";
import type { Answered, Link, UnitAsk } from "../replica/protocol.js";
import type { EventLog } from "./event-log.js";
import { type Held, heldGrant } from "./held.js";

/** A claim that the suite settles by hand. */
export interface HeldUnit extends Held {
  readonly unit: Unit;
}

/** What a replica is told about units. Each fails the case when the coordinator throws. */
export interface ReplicaUnits {
  submit(graph: string, unit?: NewUnit): Promise<Submitted>;
  submitMany(units: readonly NewUnitOf[]): Promise<readonly Submitted[]>;
  /** Submits, and fails the case when that throws nothing. */
  submitError(graph: string, unit: NewUnit): Promise<PlainError>;
  claim(limit?: number, graphs?: readonly string[]): Promise<readonly HeldUnit[]>;
  /** Claims again and again, and fails the case when there is nothing within `ms`. */
  claimWithin(ms: number, graphs?: readonly string[]): Promise<HeldUnit>;
  read(query?: UnitQuery): Promise<readonly UnitRecord[]>;
  /** The unit with this id; fails the case when there is none. */
  one(id: string): Promise<UnitRecord>;
  count(): Promise<readonly Backlog[]>;
  change(what: Exclude<UnitAsk, { do: "read" | "count" }>): Promise<UnitChange>;
}

export function replicaUnits(
  link: Link,
  log: EventLog,
  facts: { readonly coordinator: string; readonly label: string; newRun(): string },
): ReplicaUnits {
  const { coordinator, label } = facts;

  async function answered<T>(what: string, asking: Promise<Answered<T>>): Promise<T> {
    const answer = await within(answerWithinMs, `${label} ${what}`, asking);
    if ("error" in answer)
      throw new LawBroken(`${label} should have ${what}, but: ${inWords(answer.error)}`);
    return answer.value;
  }

  const submitMany = (units: readonly NewUnitOf[]) =>
    answered("submitted", link.request("submit", { coordinator, units }));

  async function claim(limit = 1, graphs?: readonly string[]): Promise<readonly HeldUnit[]> {
    const run = facts.newRun();
    const asking = link.request("claim", { coordinator, run, limit, ...(graphs && { graphs }) });
    const claims = await answered("claimed", asking);
    return claims.map((one) => {
      check(one.unit, `a claim must bring its unit: ${inWords(one)}`);
      return { ...heldGrant(link, log, one.run, label, one), unit: one.unit };
    });
  }

  const unit = (what: UnitAsk, said: string) =>
    answered(said, link.request("unit", { coordinator, what }));
  const read = async (query: UnitQuery = {}) =>
    (await unit({ do: "read", query }, "read units")) as readonly UnitRecord[];

  return {
    submitMany,
    async submit(graph, asked = {}) {
      const [submitted] = await submitMany([{ ...asked, graph }]);
      check(submitted, "a submit was not answered");
      return submitted;
    },
    async submitError(graph, asked) {
      const asking = link.request("submit", { coordinator, units: [{ ...asked, graph }] });
      const answer = await within(answerWithinMs, `${label} was answered`, asking);
      check("error" in answer, `the submit of ${label} should have thrown: ${inWords(answer)}`);
      return answer.error;
    },
    claim,
    async claimWithin(ms, graphs) {
      const until = performance.now() + ms;
      for (;;) {
        const [held] = await claim(1, graphs);
        if (held) return held;
        check(performance.now() < until, `${label} claimed nothing within ${Math.round(ms)} ms`);
        await pause(pollEveryMs);
      }
    },
    read,
    async one(id) {
      const [found] = await read({ id });
      check(found, `there is no unit ${id}`);
      return found;
    },
    count: async () => (await unit({ do: "count" }, "counted units")) as readonly Backlog[],
    change: async (what) => (await unit(what, `answered ${what.do}`)) as UnitChange,
  };
}
