import { BackendError, isBackendError } from "../errors.js";
import { said } from "../words.js";
import { LimitReached } from "./limited.js";

/** What was being done when the backend failed, in the words of the message. */
export interface Tried {
  /** `Could not release "g" (skip-lock on postgres)`. */
  readonly what: string;
  /** The limit that a silent backend ran into: `releaseTimeoutMs 5000`. */
  readonly limit: string;
  /** What that means for the caller, and the next step. */
  readonly advice: string;
}

/** The error that users see for whatever a port threw; a port's own `BackendError` says it best. */
export function backendFailure(cause: unknown, { what, limit, advice }: Tried): BackendError {
  if (isBackendError(cause)) return cause;
  return cause instanceof LimitReached
    ? new BackendError("BACKEND_TIMEOUT", `${what}: no answer within ${limit}. ${advice}`)
    : new BackendError("BACKEND_FAULT", `${what}: ${said(cause)}. ${advice}`, { cause });
}
