export { currentGrant, type GrantConfigurable } from "./current-grant.js";
export type { CompiledGraph, Durability, InputOf, ValueOf } from "./graph.js";
export type { Answer, Pause } from "./pause.js";
export type { RunEvent, RunObserver } from "./run-events.js";
export { runGraph } from "./run-graph.js";
export { leftoversOf } from "./run-loss.js";
export type { RunOptions, TickGraphOptions } from "./run-options.js";
export type { GraphOutcome, GraphRun, RunRemarks } from "./run-result.js";
export type { Leftovers } from "./run-scope.js";
