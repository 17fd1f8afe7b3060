/**
 * Every error of this family carries a stable `code`, says what to do next, and keeps the original
 * as `cause`. Tell them apart by `code` or by the guards below, not by `instanceof`: an application
 * may have two copies of this package installed.
 */

/** Codes for "I could not ask": the backend is down, misconfigured, or did not answer in time. */
export type BackendErrorCode =
  | "BACKEND_UNREACHABLE"
  | "BACKEND_TIMEOUT"
  | "BACKEND_LOST"
  | "BACKEND_AUTH"
  | "BACKEND_FULL"
  | "BACKEND_FORBIDDEN"
  | "BACKEND_POOLED"
  | "BACKEND_STANDBY"
  | "BACKEND_SCHEMA"
  | "BACKEND_FAULT";

/** Every stable code that this family uses. */
export type SoleWriterErrorCode =
  | BackendErrorCode
  | "GRANT_LOST"
  | "INVALID_NAME"
  | "INVALID_OPTION"
  | "ACQUIRE_ABORTED"
  | "COORDINATOR_CLOSED"
  | "UNFENCED_WRITE"
  | "STALE_WRITE";

const brand = Symbol.for("sole-writer.error");

/** The base of every error this family throws. */
export abstract class SoleWriterError extends Error {
  abstract readonly code: SoleWriterErrorCode;
  readonly [brand] = true;
}

/** Why a grant ended without its holder having settled it. */
export type LossReason =
  /** The backend says that somebody else holds the graph, or nobody. */
  | "replaced"
  /** The session that carried the grant is over. */
  | "session-ended"
  /** The backend has not confirmed the grant for so long that it is not certain any more. */
  | "unconfirmed"
  /** The coordinator was closed and its grace period ran out before the work had settled. */
  | "closed"
  /** The grant was already settled. */
  | "settled";

/** The grant is gone, or no longer certain. Another replica may be writing. */
export class GrantLostError extends SoleWriterError {
  override readonly name = "GrantLostError";
  readonly code = "GRANT_LOST";
  readonly graph: string;
  readonly fence: bigint;
  readonly reason: LossReason;

  constructor(
    facts: { graph: string; fence: bigint; reason: LossReason; where: string; detail: string },
    options?: ErrorOptions,
  ) {
    const advice =
      facts.reason === "settled"
        ? "Acquire the graph again to write it."
        : "Another replica may be writing; this run must stop.";
    super(
      `Lost the grant on "${facts.graph}" (${facts.where}, fence ${facts.fence}): ${facts.detail}. ${advice}`,
      options,
    );
    this.graph = facts.graph;
    this.fence = facts.fence;
    this.reason = facts.reason;
  }
}

/** The backend could not be asked, or what it offers is not fit for exclusion. Never means "busy". */
export class BackendError extends SoleWriterError {
  override readonly name = "BackendError";
  readonly code: BackendErrorCode;
  /** True when asking again later, with nothing changed, may succeed. */
  readonly transient: boolean;

  constructor(code: BackendErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.transient =
      code === "BACKEND_UNREACHABLE" ||
      code === "BACKEND_TIMEOUT" ||
      code === "BACKEND_LOST" ||
      code === "BACKEND_FULL";
  }
}

/** A graph name that breaks the one rule for names. Thrown before any backend is touched. */
export class InvalidNameError extends SoleWriterError {
  override readonly name = "InvalidNameError";
  readonly code = "INVALID_NAME";
}

/** An option that makes no sense. Thrown when the coordinator is built, or before a call asks anybody. */
export class InvalidOptionError extends SoleWriterError {
  override readonly name = "InvalidOptionError";
  readonly code = "INVALID_OPTION";
}

/** The caller gave up an acquire by its signal. Nothing was left behind. */
export class AcquireAbortedError extends SoleWriterError {
  override readonly name = "AcquireAbortedError";
  readonly code = "ACQUIRE_ABORTED";
}

/** The coordinator was closed. */
export class CoordinatorClosedError extends SoleWriterError {
  override readonly name = "CoordinatorClosedError";
  readonly code = "COORDINATOR_CLOSED";
}

/** True for every error of this family, also from another copy of this package. */
export function isSoleWriterError(error: unknown): error is SoleWriterError {
  return typeof error === "object" && error !== null && brand in error;
}

/** True when `error` says that a grant was lost, also from another copy of this package. */
export function isGrantLost(error: unknown): error is GrantLostError {
  return isSoleWriterError(error) && error.code === "GRANT_LOST";
}

/** True when `error` says that the backend could not be asked, also from another copy of this package. */
export function isBackendError(error: unknown): error is BackendError {
  return isSoleWriterError(error) && error.code.startsWith("BACKEND_");
}
