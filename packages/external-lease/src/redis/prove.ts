import { randomUUID } from "node:crypto";
import type { Finding } from "@sole-writer/core";
import { connectionTo } from "./connection.js";
import { redisFault } from "./faults.js";
import { keysOf } from "./keys.js";
import type { CheckedOptions } from "./options.js";
import { settle } from "./scripts/settle.js";
import { take } from "./scripts/take.js";

const limitMs = 5_000;
const clockToleranceMs = 1_000;

/** Takes a lease with one connection and tries it with another, then reads what the server says of itself. */
export async function prove(options: CheckedOptions, what: string): Promise<readonly Finding[]> {
  const [one, two] = [connectionTo(options.connect), connectionTo(options.connect)];
  const redis = options.connect();
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    const info = await redis.info();
    const findings = [...settings(info), ...clock((await redis.time()) as unknown[])];
    if (/^role:(slave|replica)/m.test(info)) return findings;
    const keys = keysOf(options.app, `preflight ${randomUUID()}`);
    const ask = async (connection: typeof one, attempt: string) => {
      const args = (deadline: string) => [
        deadline,
        "5000",
        attempt,
        attempt,
        "preflight",
        "",
        "",
        "",
      ];
      const call = { script: take, keys: [keys.graph, keys.lease], args };
      const [answer] = await connection.run([call], { limitMs, what });
      if (!answer || "error" in answer) throw redisFault(answer?.error, what);
      return String((answer.reply as unknown[])[0]);
    };
    const attempt = randomUUID();
    const answers = [await ask(one, attempt), await ask(two, randomUUID())];
    await one.run(
      [{ script: settle, keys: [keys.graph, keys.lease], args: () => [attempt, "0", "", ""] }],
      { limitMs, what },
    );
    await redis.del(keys.graph);
    if (answers.join() !== "taken,held")
      findings.push({
        code: "does-not-exclude",
        severity: "error",
        message: `Two connections asked for one lease and were told: ${answers.join(" and ")}.`,
        remedy: "Connect to one primary, not to several servers that know nothing of each other.",
      });
    return findings;
  } catch (error) {
    throw redisFault(error, what);
  } finally {
    redis.disconnect();
    await Promise.all([one.close(), two.close()]);
  }
}

function settings(info: string): Finding[] {
  const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const findings: Finding[] = [];
  if (/slave|replica/.test(value("role")))
    findings.push({
      code: "replica",
      severity: "error",
      message: "This Redis is a replica: it takes no writes, and what it says is old.",
      remedy: "Connect to the primary.",
    });
  if (value("maxmemory") !== "0" && value("maxmemory_policy") !== "noeviction")
    findings.push({
      code: "evicts-keys",
      severity: "error",
      message: `maxmemory-policy is ${value("maxmemory_policy")}: a lease may be removed while it is held.`,
      remedy: "Set maxmemory-policy to noeviction.",
    });
  if (value("aof_enabled") === "0")
    findings.push({
      code: "forgets-leases",
      severity: "warning",
      message:
        "No append-only file: a restart forgets who holds what, and grants it again at once.",
      remedy: "Set appendonly to yes; with appendfsync always no second is forgotten either.",
    });
  if (Number(value("connected_slaves")) > 0 && value("min_slaves_good_slaves") === "")
    findings.push({
      code: "failover-may-forget",
      severity: "warning",
      message: "Replicas are fed behind the answer: one that is promoted may not know a lease.",
      remedy: "Set min-replicas-to-write to 1, and check the fence where you write.",
    });
  return findings;
}

function clock([seconds, micros]: unknown[]): Finding[] {
  const offMs = Math.round(Number(seconds) * 1_000 + Number(micros) / 1_000 - Date.now());
  if (Math.abs(offMs) <= clockToleranceMs) return [];
  return [
    {
      code: "clock-difference",
      severity: "warning",
      message: `The clock of Redis is ${offMs} ms off ours. Leases do not mind, but fences follow its clock.`,
      remedy: "Let both follow NTP.",
    },
  ];
}
