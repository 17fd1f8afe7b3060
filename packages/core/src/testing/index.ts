export { type ManualClock, manualClock } from "./manual-clock.js";
export { type MemoryCoordinatorOptions, memoryCoordinator } from "./memory-coordinator.js";
export { type MemoryRecord, type MemoryStore, memoryStore } from "./memory-store.js";
