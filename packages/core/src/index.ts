export { type Clock, systemClock } from "./clock.js";
export type {
  AcquireOptions,
  CloseOptions,
  Coordinator,
  Finding,
  GraphStatus,
  Guarantees,
} from "./coordinator.js";
export type {
  ClaimOptions,
  DueAnswer,
  DueOptions,
  DurableCoordinator,
} from "./durable/durable-coordinator.js";
export type {
  Backlog,
  NewUnit,
  NewUnitOf,
  SubmitOptions,
  Submitted,
  TransactionClient,
  UnitChange,
  UnitPage,
  UnitQuery,
  UnitRecord,
  UnitState,
} from "./durable/unit.js";
export { assertDurationMs, assertShorterMs } from "./durations.js";
export {
  type ClaimingCoordinator,
  claimingCoordinatorOver,
} from "./engine/claiming-coordinator-over.js";
export { coordinatorOver } from "./engine/coordinator-over.js";
export type { CoordinatorOptions } from "./engine/engine.js";
export {
  AcquireAbortedError,
  BackendError,
  type BackendErrorCode,
  CoordinatorClosedError,
  GrantLostError,
  InvalidNameError,
  InvalidOptionError,
  isBackendError,
  isGrantLost,
  isSoleWriterError,
  type LossReason,
  SoleWriterError,
  type SoleWriterErrorCode,
} from "./errors.js";
export { type CoordinatorEvent, type Observer, publish } from "./events.js";
export { nextFence } from "./fence.js";
export type { Ending, Grant, Holder, Refusal, Unit } from "./grant.js";
export { newHolder } from "./holder.js";
export { assertAppName, assertGraphName, maxGraphNameLength } from "./name.js";
export type { Outcome, RunFacts } from "./outcome.js";
export { describeHolder, refuse } from "./refusal.js";
export type {
  ClaimPort,
  ClaimRequest,
  Renewal,
  TakeAnswer,
  TakeRequest,
  Term,
  TermLife,
  TermPort,
} from "./term-port.js";
export { settleAfter, type TickOptions, tick } from "./tick.js";
export { type TrustWindow, trustWindow } from "./trust-window.js";
export { type WindowIdentity, windowHasRun, windowIdentity } from "./window.js";
