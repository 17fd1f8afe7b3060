/**
 * external-lease on Redis: a key with an expiry for each graph that is held.
 *
 *     take ── taken ──▶ work, renewed every `renewEveryMs` ──▶ settle
 *       └──── held ──▶ the holder, by name
 *
 * - Each step is one script on the keys of one graph: the hash that keeps its fence and its last window for
 *   good, and the lease, which ends by itself.
 * - A lease is known by its attempt, a random id of that one take. Only who knows it can renew or end it.
 * - Our deadline is counted from when the last good request was sent, so it comes before the server's.
 * - What was given up is not carried out later: every request says until when it is good.
 *
 * It excludes as long as one Redis is the one Redis. A replica that is promoted without having seen a lease, or
 * a server that is restarted without its data, grants the graph again while the old holder still believes, for
 * one `ttlMs` at most. Its fence is larger then, so where the fence is checked no harm is done.
 */
import { randomUUID } from "node:crypto";
import {
  type Coordinator,
  coordinatorOver,
  type GraphStatus,
  type Guarantees,
  newHolder,
  type TakeAnswer,
  type Term,
  type TermLife,
  type TermPort,
} from "@sole-writer/core";
import { type Answer, type Call, connectionTo } from "./connection.js";
import { redisFault } from "./faults.js";
import { type GraphKeys, graphsKey, keysOf } from "./keys.js";
import { checkedOptions, type RedisLeaseOptions } from "./options.js";
import { orphans } from "./orphans.js";
import { prove } from "./prove.js";
import { read } from "./scripts/read.js";
import { renew } from "./scripts/renew.js";
import { settle } from "./scripts/settle.js";
import { take } from "./scripts/take.js";

interface LeaseTerm extends Term {
  readonly keys: GraphKeys;
  readonly attempt: string;
}

/**
 * Opens the external-lease strategy on Redis 6.2 or newer. Returns at once and connects when it is first asked.
 * @throws {InvalidOptionError} for options that make no sense, before anything is connected
 */
export function redisLease(options: RedisLeaseOptions): Coordinator {
  const checked = checkedOptions(options);
  const { app, address, ttlMs, renewEveryMs, safetyMarginMs, acquireTimeoutMs } = checked;
  const holder = newHolder(options.label);
  const [asks, beats] = [connectionTo(checked.connect), connectionTo(checked.connect)];
  const what = (verb: string, graph?: string) =>
    `Could not ${verb} ${graph === undefined ? `"${app}"` : `"${graph}"`} (external-lease on redis at ${address})`;
  const left = orphans(asks, { ttlMs, what: what("clean up after") });

  const life: TermLife = {
    kind: "lease",
    ttlMs,
    safetyMarginMs,
    renewEveryMs,
    // Not shorter than a slow answer, whatever the beat; and never so long that no second try fits.
    renewTimeoutMs: Math.max(renewEveryMs, Math.floor((ttlMs - safetyMarginMs) / 4)),
  };
  const guarantees: Guarantees = {
    survivesCrash: false,
    backlog: false,
    frozenHolder: "is-replaced",
    handover: { processKilledMs: ttlMs, hostVanishedMs: ttlMs },
    lossToldWithinMs: ttlMs - safetyMarginMs,
    scope: "backend",
  };

  const port: TermPort<LeaseTerm> = {
    strategy: "external-lease",
    backend: "redis",
    guarantees,
    life,
    async take({
      graph,
      window,
      minIntervalMs,
      sending,
      timeoutMs,
    }): Promise<TakeAnswer<LeaseTerm>> {
      await left.gone(graph, timeoutMs);
      const keys = keysOf(app, graph);
      const attempt = randomUUID();
      const call: Call = {
        script: take,
        keys: [keys.graph, keys.lease],
        args: (deadline) => [
          deadline,
          String(ttlMs),
          attempt,
          holder.id,
          holder.label,
          window?.id ?? "",
          window?.at ? String(window.at.getTime()) : "",
          minIntervalMs === undefined ? "" : String(minIntervalMs * 1_000),
        ],
      };
      const asking = what("ask for", graph);
      let isSent = false;
      const limits = {
        limitMs: timeoutMs,
        what: asking,
        sending() {
          isSent = true;
          asks.tell("sadd", graphsKey(app), graph);
          sending();
        },
      };
      try {
        const [kind, ...facts] = textsIn(await asks.run([call], limits), asking);
        if (kind === "ran") return { taken: false, reason: "already-ran" };
        if (kind === "held") {
          const [id = "", label = "", fence = "0", since = "0"] = facts;
          return {
            taken: false,
            reason: "held",
            holder: { id, label, fence: BigInt(fence), since: dateOf(since) },
          };
        }
        if (kind !== "taken") throw lateAnswer();
        const [fence = "0", since = "0"] = facts;
        const term = { graph, fence: BigInt(fence), since: dateOf(since), keys, attempt };
        return { taken: true, term };
      } catch (error) {
        if (isSent) left.add(graph, keys, attempt);
        throw redisFault(error, asking);
      }
    },
    async renew(terms, signal) {
      const asking = what("renew");
      try {
        signal.throwIfAborted();
        const calls = terms.map(
          ({ keys, attempt }): Call => ({
            script: renew,
            keys: [keys.lease],
            args: (deadline) => [deadline, String(ttlMs), attempt],
          }),
        );
        const answers = await beats.run(calls, { limitMs: life.renewTimeoutMs, what: asking });
        return answers.map((answer) => {
          const [kind] = "reply" in answer ? texts(answer.reply) : [];
          if (kind === "held") return { state: "held" };
          if (kind === "gone")
            return { state: "gone", cause: new Error("Redis knows another lease, or none") };
          return {
            state: "unknown",
            cause: "error" in answer ? redisFault(answer.error, asking) : lateAnswer(),
          };
        });
      } catch (error) {
        const cause = redisFault(error, asking);
        return terms.map(() => ({ state: "unknown", cause }));
      }
    },
    async settle({ graph, keys, attempt }, ending, window) {
      const asking = what("release", graph);
      const call: Call = {
        script: settle,
        keys: [keys.graph, keys.lease],
        args: () => [
          attempt,
          ending.kind === "done" ? "1" : "0",
          window?.id ?? "",
          window?.at ? String(window.at.getTime()) : "",
        ],
      };
      const [kind] = textsIn(
        await asks.run([call], { limitMs: acquireTimeoutMs, what: asking }),
        asking,
      );
      return kind === "settled" ? "settled" : "gone";
    },
    abandon: ({ graph, keys, attempt }) => left.add(graph, keys, attempt),
    async read(graph) {
      const asking = what("inspect", graph);
      const limits = { limitMs: acquireTimeoutMs, what: asking };
      const names = graph === undefined ? await asks.members(graphsKey(app), limits) : [graph];
      const calls = names.map((name): Call => {
        const keys = keysOf(app, name);
        return { script: read, keys: [keys.graph, keys.lease], args: () => [] };
      });
      const answers = await asks.run(calls, limits);
      return answers.flatMap((answer, index) => {
        if ("error" in answer) throw redisFault(answer.error, asking);
        return statusOf(names[index] ?? "", answer.reply);
      });
    },
    prove: () => prove(checked, what("prove that Redis excludes for")),
    async close() {
      left.close();
      await Promise.all([asks.close(), beats.close()]);
    },
  };
  return coordinatorOver(port, {
    holder,
    acquireTimeoutMs,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
}

function lateAnswer(): Error {
  return new Error("Redis read the question after its time, and did nothing");
}

function dateOf(micros: string): Date {
  return new Date(Number(BigInt(micros) / 1_000n));
}

function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

function textsIn(answers: readonly Answer[], what: string): string[] {
  const [answer] = answers;
  if (!answer || "error" in answer) throw redisFault(answer?.error, what);
  return texts(answer.reply);
}

function statusOf(graph: string, reply: unknown): GraphStatus[] {
  const [now, known, lease] = reply as [string, (string | null)[], (string | null)[]];
  const [last, lastWindow, lastDoneAt] = known;
  const [id, label, fence, since] = lease;
  if (!last) return [];
  const facts = {
    fence: BigInt(last),
    ...(lastWindow && { lastWindow }),
    ...(lastDoneAt && { lastDoneAt: dateOf(lastDoneAt) }),
  };
  if (!id || !fence || !since) return [{ graph, state: "free", ...facts }];
  return [
    {
      graph,
      state: "held",
      holder: { id, label: label ?? "", fence: BigInt(fence), since: dateOf(since) },
      heldForMs: Number((BigInt(now) - BigInt(since)) / 1_000n),
      ...facts,
    },
  ];
}
