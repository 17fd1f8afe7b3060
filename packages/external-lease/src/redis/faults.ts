import { BackendError, type BackendErrorCode, isBackendError } from "@sole-writer/core";

/** How Redis and Node's sockets begin what they complain about. */
const byBeginning: readonly (readonly [RegExp, BackendErrorCode])[] = [
  [/NOAUTH|WRONGPASS|invalid username-password|invalid password|AUTH failed/i, "BACKEND_AUTH"],
  [/^NOPERM/, "BACKEND_FORBIDDEN"],
  [/^READONLY/, "BACKEND_STANDBY"],
  [/^OOM|max number of clients/i, "BACKEND_FULL"],
  [/^(LOADING|CLUSTERDOWN|MASTERDOWN|BUSY|TRYAGAIN|NOREPLICAS)/, "BACKEND_UNREACHABLE"],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, "BACKEND_UNREACHABLE"],
  [
    /ECONNRESET|EPIPE|Connection is closed|Stream isn't writeable|Connection in subscriber/,
    "BACKEND_LOST",
  ],
];

const advice: Readonly<Partial<Record<BackendErrorCode, string>>> = {
  BACKEND_UNREACHABLE: "Nothing was run. Look whether Redis is up and reachable at this address.",
  BACKEND_LOST: "The connection is gone; the next question opens a new one.",
  BACKEND_AUTH: "Check user and password.",
  BACKEND_FULL: "Free memory or connections of Redis.",
  BACKEND_FORBIDDEN:
    "Allow this user EVAL, EVALSHA, TIME, HMGET, HSET, HINCRBY, PEXPIRE, DEL and SADD on sole-writer:*.",
  BACKEND_STANDBY: "Connect to the primary.",
};

/**
 * Turns what `ioredis` or a socket threw into a typed error that says what to do next.
 * @param what what was being done, as the beginning of a sentence
 */
export function redisFault(cause: unknown, what: string): BackendError {
  if (isBackendError(cause)) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const code = byBeginning.find(([beginning]) => beginning.test(text))?.[1] ?? "BACKEND_FAULT";
  const next = advice[code] ?? "The cause says what went wrong.";
  return new BackendError(code, `${what}: ${text.replace(/\.$/, "")}. ${next}`, { cause });
}

/** No answer within the time that was given for it. */
export function noAnswer(what: string, limitMs: number): BackendError {
  return new BackendError(
    "BACKEND_TIMEOUT",
    `${what}: Redis did not answer within ${limitMs} ms. Look whether it is overloaded, or the network silent.`,
  );
}
