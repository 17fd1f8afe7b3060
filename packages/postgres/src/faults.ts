import { BackendError, type BackendErrorCode, isBackendError } from "@sole-writer/core";

/** The connection ended, and the server did not say why. */
export class SessionEnded extends Error {
  override readonly name = "SessionEnded";
}

/** The codes of PostgreSQL's appendix A and of Node's sockets that need an answer of their own. */
const bySqlState: Readonly<Record<string, BackendErrorCode>> = {
  "28000": "BACKEND_AUTH",
  "28P01": "BACKEND_AUTH",
  "3D000": "BACKEND_SCHEMA",
  "3F000": "BACKEND_SCHEMA",
  "42P01": "BACKEND_SCHEMA",
  "42703": "BACKEND_SCHEMA",
  "42501": "BACKEND_FORBIDDEN",
  "25006": "BACKEND_STANDBY",
  "53300": "BACKEND_FULL",
  "57P01": "BACKEND_LOST",
  "57P02": "BACKEND_LOST",
  "57P03": "BACKEND_UNREACHABLE",
  "57P05": "BACKEND_LOST",
  ECONNREFUSED: "BACKEND_UNREACHABLE",
  ECONNRESET: "BACKEND_LOST",
  EPIPE: "BACKEND_LOST",
  ENOTFOUND: "BACKEND_UNREACHABLE",
  EAI_AGAIN: "BACKEND_UNREACHABLE",
  EHOSTUNREACH: "BACKEND_UNREACHABLE",
  ENETUNREACH: "BACKEND_UNREACHABLE",
  ETIMEDOUT: "BACKEND_UNREACHABLE",
  ENOENT: "BACKEND_UNREACHABLE",
};

const advice: Readonly<Record<BackendErrorCode, string>> = {
  BACKEND_UNREACHABLE:
    "Nothing was run. Look whether PostgreSQL is up and reachable at this address.",
  BACKEND_TIMEOUT: "Nothing was run. Look whether PostgreSQL is overloaded, or the network silent.",
  BACKEND_LOST: "The session is gone, and with it every lock it held.",
  BACKEND_AUTH: "Check user, password and pg_hba.conf.",
  BACKEND_FULL:
    "Free connections, or raise max_connections or the CONNECTION LIMIT of the role or database.",
  BACKEND_FORBIDDEN:
    "Grant the role what is missing: USAGE on schema sole_writer, and SELECT, INSERT, UPDATE on its tables.",
  BACKEND_POOLED: "Connect to PostgreSQL directly, past the pooler.",
  BACKEND_STANDBY: "Connect to the primary.",
  BACKEND_SCHEMA:
    "Let the sole_writer schema be made by a role that may CREATE in this database, or name a database that has it.",
  BACKEND_FAULT: "The cause says what went wrong.",
};

/**
 * Turns what `pg` or a socket threw into a typed error that says what to do next.
 * @param what what was being done, as the beginning of a sentence
 */
export function postgresFault(cause: unknown, what: string): BackendError {
  if (isBackendError(cause)) return cause;
  const code = codeOf(cause);
  return new BackendError(code, `${what}: ${said(cause)}. ${advice[code]}`, { cause });
}

/** The SQLSTATE or system code of an error, if it has one. */
export function stateOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

function codeOf(cause: unknown): BackendErrorCode {
  const state = stateOf(cause);
  const known = state === undefined ? undefined : bySqlState[state];
  if (known) return known;
  if (cause instanceof SessionEnded) return "BACKEND_LOST";
  // Class 08 is "connection exception"; poolers use it for what they themselves refuse.
  if (state?.startsWith("08")) return "BACKEND_LOST";
  if (state?.startsWith("53")) return "BACKEND_FULL";
  // `pg` throws plain errors, without a code, for a password that is missing and a socket that closed.
  if (state === undefined && cause instanceof Error) {
    if (cause.message.startsWith("SASL")) return "BACKEND_AUTH";
    if (cause.message.startsWith("Connection terminated")) return "BACKEND_LOST";
  }
  return "BACKEND_FAULT";
}

/** A connection that was tried at several addresses fails with an `AggregateError` that says nothing. */
function said(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === "")
    return cause.errors.map(said).join("; ");
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replace(/\.$/, "");
}
