import { randomUUID } from "node:crypto";
import { type Finding, isBackendError } from "@sole-writer/core";
import {
  ensureSchema,
  openSession,
  type PostgresSession,
  sessionName,
} from "@sole-writer/postgres";
import type { ClaimHome } from "./home.js";

const limitMs = 10_000;

const makeRow = {
  text: `
    insert into sole_writer.lease (id, app, holder_id, holder_label, expires_at)
    values ($1::uuid, 'preflight', $1::uuid, 'preflight',
      pg_catalog.clock_timestamp() + interval '1 minute')`,
};
const lockRow = {
  text: "select id from sole_writer.lease where id = $1::uuid for update skip locked",
};
const removeRow = { text: "delete from sole_writer.lease where id = $1::uuid" };

/**
 * Locks a row with one session and tries it with another, as a claim does: the proof that this backend
 * excludes. Faults that are not about exclusion (no server, a wrong password) are thrown.
 */
export async function prove(
  {
    url,
    schema,
    migrate,
  }: { readonly url: string; readonly schema: string; readonly migrate: boolean },
  home: ClaimHome,
): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(limitMs);
  const opened: PostgresSession[] = [];
  async function open(): Promise<PostgresSession> {
    const label = `${home.holder.label} preflight`;
    const { applicationName } = sessionName({ ...home.holder, label }, 0);
    const session = await openSession({ url, schema, applicationName, signal });
    opened.push(session);
    return session;
  }
  try {
    const [one, two] = [await open(), await open()];
    await ensureSchema(one, { create: migrate, signal });
    return await exclusion(one, two, signal);
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
  const id = randomUUID();
  const locks = async (session: PostgresSession) =>
    (await session.run(lockRow, [id], signal)).length === 1;
  await one.run(makeRow, [id], signal);
  await one.run({ text: "begin" }, [], signal);
  const seen = [await locks(one), await locks(two)];
  await one.run({ text: "rollback" }, [], signal);
  seen.push(await locks(two));
  await one.run(removeRow, [id], signal);
  if (seen.join() === "true,false,true") return [];
  return [
    {
      code: "does-not-exclude",
      severity: "error",
      message: `Two sessions tried to lock one row, and the answers were ${seen.join(", ")} where true, false, true was due.`,
      remedy: "Do not run graphs on this server; find out what stands between it and this process.",
    },
  ];
}

function unfit(error: unknown): Finding | undefined {
  if (!isBackendError(error)) return undefined;
  const { message } = error;
  if (error.code === "BACKEND_POOLED")
    return {
      code: "pooler-in-the-way",
      severity: "error",
      message,
      remedy: "Give durableClaim a URL that reaches PostgreSQL directly; the rest may stay pooled.",
    };
  if (error.code === "BACKEND_STANDBY")
    return {
      code: "standby",
      severity: "error",
      message,
      remedy: "Give durableClaim the URL of the primary.",
    };
  return undefined;
}
