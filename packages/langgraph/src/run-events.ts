import type { Leftovers } from "./run-scope.js";

interface EventOf<Type extends string> {
  readonly type: Type;
  readonly graph: string;
  readonly fence: bigint;
  readonly threadId?: string;
  readonly runId?: string;
}

/** What happens to a run. What happens to its grant, the coordinator's own events say. */
export type RunEvent =
  /** Before the first node: `resumed` goes on where the thread stands, and the input is not used. */
  | EventOf<"started">
  | EventOf<"resumed">
  /** The run was over, and nodes had not obeyed. At most once for a run. */
  | (EventOf<"nodes-left"> & Leftovers);

/** Called with every event of one run. What it throws becomes a process warning. */
export type RunObserver = (event: RunEvent) => void;

export function observe(observer: RunObserver | undefined, event: RunEvent): void {
  if (!observer) return;
  const warn = (error: unknown) =>
    process.emitWarning(
      `An observer of a run of "${event.graph}" threw on "${event.type}": ${String(error)}.`,
      { type: "SoleWriterWarning", code: "SOLE_WRITER_OBSERVER" },
    );
  try {
    // An async function passes for an observer, and its rejection would end the process.
    const returned: unknown = observer(event);
    if (returned instanceof Promise) returned.catch(warn);
  } catch (error) {
    warn(error);
  }
}
