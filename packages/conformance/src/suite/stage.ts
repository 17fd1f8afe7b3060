import { randomUUID } from "node:crypto";
import { acquireTimeoutMs, startWithinMs } from "../bounds.js";
import { check, NotRun } from "../check.js";
import { runsOf } from "../oracle/findings.js";
import { type OracleRecord, oraclePen, readOracle } from "../oracle/record.js";
import { within } from "../promises.js";
import { oddities } from "./aftermath.js";
import { type CaseContext, pickFault, type ReplicaOptions } from "./context.js";
import { eventLog } from "./event-log.js";
import type { AnyLink } from "./links.js";
import { type Replica, replicaOver } from "./replica.js";
import { stageWires } from "./stage-wires.js";
import type { Ground } from "./suite.js";

/** The place of one case: what it opened, and what must be put right when it is over. */
export interface Stage {
  readonly context: CaseContext;
  /** Lets go of everything, and then says what must not have happened, in sentences. */
  close(): Promise<readonly string[]>;
}

interface Member {
  readonly replica: Replica;
  readonly used: AnyLink;
  state: "runs" | "frozen" | "gone";
}

const graceOfBarrierMs = 50;

export function openStage({ factory, links, guarantees, options, oracle }: Ground): Stage {
  const app = `conformance-${randomUUID().slice(0, 8)}`;
  const members: Member[] = [];
  const excused = new Set<string>();
  const faults = factory.faults ?? {};
  const isLocal = guarantees.scope === "process";
  const fault: CaseContext["fault"] = (name) =>
    pickFault(faults, name, !isLocal && name === "takeAway");
  const wires = stageWires(faults, !isLocal);
  let opened = 0;

  async function linkFor({ beside, place }: ReplicaOptions): Promise<AnyLink> {
    if (beside) return memberOf(beside).used;
    if (place === "process" && factory.module === undefined) throw new NotRun("module");
    return links.get(isLocal && place === undefined ? "here" : "process");
  }

  async function replica(label: string, how: ReplicaOptions = {}): Promise<Replica> {
    const used = await linkFor(how);
    const { link } = used;
    opened += 1;
    const key = `${label}.${opened}`;
    const log = eventLog(link);
    const facts = { coordinator: key, app: how.app ?? app, label };
    const answer = await within(
      startWithinMs,
      `${label} opened its coordinator`,
      link.request("open", {
        ...facts,
        module: factory.module === undefined ? undefined : String(factory.module),
        acquireTimeoutMs: how.acquireTimeoutMs ?? acquireTimeoutMs,
        settings: how.settings ? how.settings.value : factory.settings,
        oracle,
      }),
    );
    const made = replicaOver(link, log, { key, label, app: facts.app, opened: answer });
    members.push({ replica: made, used, state: "runs" });
    return made;
  }

  function memberOf(wanted: Replica): Member {
    const found = members.find((member) => member.replica === wanted);
    check(found, `${wanted.label} is not of this case`);
    return found;
  }

  /** Its runs are over, though nobody in its process could write so. */
  function endRunsOf({ replica: { runPrefixes } }: Member, at: bigint): void {
    const pen = oraclePen(oracle);
    for (const record of openRecords(readOracle(oracle)))
      if (runPrefixes.some((prefix) => record.run.startsWith(prefix)))
        pen.write({ ...record, kind: "end", at });
    pen.close();
  }

  const context: CaseContext = {
    guarantees,
    options,
    app,
    graph: "price_feed",
    replica,
    replicas: (...labels) => Promise.all(labels.map((label) => replica(label))),
    fault,
    ...wires,
    async kill(victim) {
      const member = memberOf(victim);
      const { used } = member;
      const at = process.hrtime.bigint();
      if (used.place === "process") {
        await used.link.kill();
        for (const other of members) if (other.used === used) other.state = "gone";
      } else {
        fault("freeze")(victim.label);
        used.link.mute();
        member.state = "frozen";
      }
      endRunsOf(member, at);
      return at;
    },
    async freeze(victim) {
      const member = memberOf(victim);
      const at = process.hrtime.bigint();
      if (member.used.place === "process") member.used.link.signal("SIGSTOP");
      else fault("freeze")(victim.label);
      member.state = "frozen";
      return at;
    },
    thaw: async (victim) => thaw(memberOf(victim)),
    async leave(victim, ms) {
      const { used } = memberOf(victim);
      if (used.place !== "process") throw new NotRun("module");
      const leaving = used.link.request("leave", {});
      await within(ms, `${victim.label} closed everything`, leaving);
      return within(ms, `the process of ${victim.label} ended by itself`, used.link.exited);
    },
    barrier: () =>
      process.hrtime.bigint() + BigInt(graceOfBarrierMs + 5 * members.length) * 1_000_000n,
    runs: () => runsOf(readOracle(oracle)),
    excuse: (run) => void excused.add(run),
  };

  function thaw(member: Member): void {
    if (member.state !== "frozen") return;
    if (member.used.place === "process") member.used.link.signal("SIGCONT");
    else fault("thaw")(member.replica.label);
    member.state = "runs";
  }

  return {
    context,
    async close() {
      for (const member of members) thaw(member);
      await wires.heal();
      const stuck: string[] = [];
      await Promise.all(
        [...new Set(members.map(({ used }) => used))].map(async (used) => {
          const isAsNew = await links.giveBack(used);
          const { replica: first } = members.find((member) => member.used === used) ?? {};
          if (!isAsNew)
            stuck.push(`${first?.label} did not let go of everything when it was closed`);
        }),
      );
      await wires.close();
      const logs = members.map(({ replica: { label, log } }) => ({ label, log }));
      for (const { log } of logs) log.end();
      return [...stuck, ...oddities(logs, readOracle(oracle), excused)];
    },
  };
}

function openRecords(records: readonly OracleRecord[]): OracleRecord[] {
  const ended = new Set(records.filter(({ kind }) => kind === "end").map(({ run }) => run));
  return records.filter(({ kind, run }) => kind === "begin" && !ended.has(run));
}
