import { randomBytes } from "node:crypto";
import { type Finding, isBackendError } from "@sole-writer/core";
import { openSession, type PostgresSession, sessionName } from "@sole-writer/postgres";
import type { LockHome } from "./term.js";

const limitMs = 10_000;

const tryLock = { text: "select pg_catalog.pg_try_advisory_lock($1::bigint) as answer" };
const unlock = { text: "select pg_catalog.pg_advisory_unlock($1::bigint) as answer" };
const settingsNow = {
  text: `
    select
      pg_catalog.current_setting('tcp_keepalives_idle')::int as idle_s,
      pg_catalog.inet_server_addr() is not null as over_tcp`,
};

/**
 * Holds a lock nobody knows with one session and tries it with another: the proof that this backend
 * excludes. Faults that are not about exclusion (no server, a wrong password) are thrown.
 */
export async function prove(
  { url, schema }: { readonly url: string; readonly schema: string },
  home: LockHome,
): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(limitMs);
  const open = (count: number) => {
    const label = `${home.holder.label} preflight`;
    const { applicationName } = sessionName({ ...home.holder, label }, count);
    return openSession({ url, schema, applicationName, signal });
  };
  const opened: PostgresSession[] = [];
  try {
    const [one, two] = [await open(0), await open(0)];
    opened.push(one, two);
    return [...(await exclusion(one, two, signal)), ...(await keepalives(one, signal))];
  } catch (error) {
    const finding = unfit(error);
    if (!finding) throw error;
    return [finding];
  } finally {
    await Promise.all(opened.map((session) => session.end()));
  }
}

async function exclusion(
  one: PostgresSession,
  two: PostgresSession,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const key = String(randomBytes(8).readBigInt64BE());
  const ask = async (session: PostgresSession, statement: { readonly text: string }) => {
    const [row] = await session.run<{ answer: boolean }>(statement, [key], signal);
    return row?.answer === true;
  };
  const seen = [
    await ask(one, tryLock),
    await ask(two, tryLock),
    await ask(one, unlock),
    await ask(two, tryLock),
  ];
  if (seen.join() === "true,false,true,true") return [];
  return [
    {
      code: "does-not-exclude",
      severity: "error",
      message: `Two sessions tried one lock, and the answers were ${seen.join(", ")} where true, false, true, true was due.`,
      remedy: "Do not run graphs on this server; find out what stands between it and this process.",
    },
  ];
}

async function keepalives(
  session: PostgresSession,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const [row] = await session.run<{ idle_s: number; over_tcp: boolean }>(settingsNow, [], signal);
  if (!row?.over_tcp || row.idle_s === 5) return [];
  return [
    {
      code: "keepalives-not-set",
      severity: "warning",
      message: `The server did not take tcp_keepalives_idle = 5 for this session (it is ${row.idle_s}), so a host that vanishes keeps its locks for longer than stated.`,
      remedy: "Set tcp_keepalives_idle, _interval and _count in postgresql.conf.",
    },
  ];
}

function unfit(error: unknown): Finding | undefined {
  if (!isBackendError(error)) return undefined;
  const { message } = error;
  switch (error.code) {
    case "BACKEND_POOLED":
      return {
        code: "pooler-in-the-way",
        severity: "error",
        message,
        remedy: "Give skipLock a URL that reaches PostgreSQL directly; the rest may stay pooled.",
      };
    case "BACKEND_STANDBY":
      return {
        code: "standby",
        severity: "error",
        message,
        remedy: "Give skipLock the URL of the primary, or target_session_attrs in the host's name.",
      };
    default:
      return undefined;
  }
}
