import { TooLate, within } from "../promises.js";
import type { Link, ReplicaEvent } from "../replica/protocol.js";

type EventOf<Kind extends ReplicaEvent["event"]> = Extract<ReplicaEvent, { event: Kind }>;
type RunEvent = Extract<ReplicaEvent, { run: string }>["event"];

/** Everything a replica said unasked, since the log was begun. */
export interface EventLog {
  /** All events of this kind so far. */
  all<Kind extends ReplicaEvent["event"]>(kind: Kind): EventOf<Kind>[];
  /**
   * The first event of this kind about `run`, past or to come.
   * @throws {TooLate} when it does not come within `ms`.
   */
  first<Kind extends RunEvent>(kind: Kind, run: string, ms: number): Promise<EventOf<Kind>>;
  end(): void;
}

export function eventLog(link: Link): EventLog {
  const events: ReplicaEvent[] = [];
  const waiting = new Set<(event: ReplicaEvent) => void>();
  const stop = link.listen((event) => {
    events.push(event);
    for (const told of [...waiting]) told(event);
  });

  return {
    all: (kind) => events.filter((event) => isOf(kind, event)),
    async first(kind, run, ms) {
      const matches = (event: ReplicaEvent) =>
        isOf(kind, event) && "run" in event && event.run === run;
      const past = events.find(matches);
      if (past && isOf(kind, past)) return past;
      let told: (event: ReplicaEvent) => void = () => undefined;
      const coming = new Promise<ReplicaEvent>((resolve) => {
        told = (event) => matches(event) && resolve(event);
        waiting.add(told);
      });
      try {
        const event = await within(ms, `the replica said "${kind}" of ${run}`, coming);
        if (isOf(kind, event)) return event;
        throw new TooLate(`"${kind}" of ${run}`);
      } finally {
        waiting.delete(told);
      }
    },
    end: stop,
  };
}

function isOf<Kind extends ReplicaEvent["event"]>(
  kind: Kind,
  event: ReplicaEvent,
): event is EventOf<Kind> {
  return event.event === kind;
}
