export { currentGrant, type GrantConfigurable } from "./current-grant.js";
export { StaleWriteError, UnfencedWriteError } from "./errors.js";
export { fenced } from "./fenced.js";
export type { CompiledGraph, Durability, InputOf, StreamableGraph, ValueOf } from "./graph.js";
export {
  checkpointGuardSql,
  checkpointGuardStatus,
  type GuardStatus,
  installCheckpointGuard,
  removeCheckpointGuard,
} from "./guard/guard.js";
export type { GuardMode } from "./guard/guard-mode.js";
export type { GuardOptions, GuardPlace } from "./guard/guard-options.js";
export type { Answer, Pause } from "./pause.js";
export {
  type FencedPostgresSaverOptions,
  fencedPostgresSaver,
} from "./postgres/fenced-postgres-saver.js";
export type { RunEvent, RunObserver } from "./run-events.js";
export { runGraph } from "./run-graph.js";
export { leftoversOf } from "./run-loss.js";
export type { RunOptions, TickGraphOptions } from "./run-options.js";
export type { GraphOutcome, GraphRun, RunRemarks } from "./run-result.js";
export type { Leftovers } from "./run-scope.js";
export { type GraphStream, streamGraph } from "./stream-graph.js";
export type { StreamShape } from "./stream-shape.js";
export { withGrant } from "./with-grant.js";
