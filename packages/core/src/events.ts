import { channel } from "node:diagnostics_channel";
import type { GrantLostError } from "./errors.js";
import type { Ending, Holder, Refusal } from "./grant.js";
import { said } from "./words.js";

interface EventOf<Type extends string> {
  readonly type: Type;
  readonly strategy: string;
  readonly backend: string;
  readonly graph: string;
  /** The coordinator that saw it. */
  readonly holder: Holder;
}

/** Everything that happens to a coordinator, each thing once. Log lines and metrics are made from it. */
export type CoordinatorEvent =
  | (EventOf<"granted"> & { readonly fence: bigint; readonly tookMs: number })
  | (EventOf<"refused"> & { readonly refusal: Refusal; readonly tookMs: number })
  | (EventOf<"acquire-failed"> & { readonly error: unknown; readonly tookMs: number })
  | (EventOf<"renewed"> & { readonly fence: bigint; readonly tookMs: number })
  | (EventOf<"renewal-failed"> & { readonly fence: bigint; readonly error: unknown })
  | (EventOf<"lost"> & { readonly fence: bigint; readonly error: GrantLostError })
  | (EventOf<"settled"> & {
      readonly fence: bigint;
      readonly ending: Ending;
      readonly heldMs: number;
    })
  | (EventOf<"settle-failed"> & {
      readonly fence: bigint;
      readonly ending: Ending;
      readonly error: unknown;
    });

/** Called with every event of one coordinator. What it throws or rejects with becomes a process warning. */
export type Observer = (event: CoordinatorEvent) => void;

/**
 * Publishes an event to the observer and on `node:diagnostics_channel`, as `sole-writer:<type>`.
 * Neither can disturb the coordinator. What a channel's subscriber throws, Node itself raises as an
 * uncaught exception, as on every channel.
 */
export function publish(observer: Observer | undefined, event: CoordinatorEvent): void {
  const published = channel(`sole-writer:${event.type}`);
  if (published.hasSubscribers) published.publish(event);
  if (!observer) return;
  const warn = (error: unknown) =>
    process.emitWarning(
      `An observer of "${event.graph}" threw on "${event.type}": ${said(error)}.`,
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
