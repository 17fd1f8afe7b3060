import { type Coordinator, type Grant, tick } from "@sole-writer/core";
import { manualClock, memoryCoordinator, memoryStore } from "@sole-writer/core/testing";

/** Replicas on one store in memory, and the ways to take a grant away from one. */
export function replicas() {
  const clock = manualClock();
  const store = memoryStore(clock);
  const replica = (label: string): Coordinator =>
    memoryCoordinator({ store, label, ttlMs: 10_000, renewEveryMs: 1_000 });
  return {
    clock,
    a: replica("a"),
    b: replica("b"),
    /** The backend forgets who holds `graph`; the next heartbeat finds out. */
    async lose(graph: string): Promise<void> {
      const record = store.graphs("test").get(graph);
      if (record) delete record.holder;
      await clock.advance(1_000);
    },
  };
}

/** `runGraph` under a grant that `tick` acquires and settles, as an application does it. */
export async function grantOf(coordinator: Coordinator, graph: string): Promise<Grant> {
  const answer = await coordinator.acquire(graph);
  if (!answer.granted) throw new Error(answer.message);
  return answer;
}

/** Where tests run graphs: a fresh grant each time, settled as `tick` would settle it. */
export function under<T>(coordinator: Coordinator, work: (grant: Grant) => Promise<T>) {
  return tick(coordinator, "g", work);
}
