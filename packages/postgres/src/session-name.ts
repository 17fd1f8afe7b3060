import type { Holder } from "@sole-writer/core";

/** Who is behind a session, as `application_name` tells every other session of the server. */
export interface SessionName {
  /** Unique for each session ever opened: the holder's id in short, and a count. */
  readonly sessionId: string;
  readonly holderId: string;
  /** The beginning of the holder's label, in ASCII. */
  readonly label: string;
}

/** PostgreSQL cuts `application_name` to NAMEDATALEN - 1 bytes. */
const longest = 63;
const form = /^sole-writer\/([\w-]{22})\.([0-9a-z]+) ?(.*)$/;

/**
 * The `application_name` of a session: who holds a lock can then be read from `pg_stat_activity`, by
 * people and by us, without any table.
 * @param count differs for every session of one coordinator
 */
export function sessionName(
  holder: Pick<Holder, "id" | "label">,
  count: number,
): { readonly sessionId: string; readonly applicationName: string } {
  const id = Buffer.from(holder.id.replaceAll("-", ""), "hex").toString("base64url");
  const sessionId = `${id}.${count.toString(36)}`;
  // Servers before 16 turn other characters into question marks themselves, newer ones into \x codes.
  const label = holder.label.replace(/[^ -~]/gu, "?");
  return { sessionId, applicationName: `sole-writer/${sessionId} ${label}`.slice(0, longest) };
}

/** Reads what `sessionName` wrote; undefined for a session that is not ours. */
export function readSessionName(applicationName: string): SessionName | undefined {
  const [, id, count, label] = form.exec(applicationName) ?? [];
  if (id === undefined || count === undefined || label === undefined) return undefined;
  const hex = Buffer.from(id, "base64url").toString("hex");
  const holderId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { sessionId: `${id}.${count}`, holderId, label };
}
