/** What the director and a replica say to each other. Plain data only: it travels between processes. */

export type GraphName = "restock_plan" | "pack_audit";

/** The first message, which makes a process a replica. */
export interface Opening {
  readonly kind: "open";
  readonly label: string;
  /** Of the warehouse's database, and of its lock sessions. */
  readonly url: string;
  /** Where the lock sessions go when they do not go to `url`: through a pooler, for example. */
  readonly lockUrl?: string;
  /** Base URL of supplier feed and scale. */
  readonly outsideUrl: string;
  /** Takes a coordinator that excludes nobody outside its own process. */
  readonly unprotected: boolean;
}

export type Request =
  | Opening
  | {
      readonly kind: "tick";
      readonly id: number;
      readonly graph: GraphName;
      /** The planned time of the tick, the same on every replica. */
      readonly window: string;
      /** Ask again after so many ms while the graph is held by somebody else. */
      readonly askAgainMs?: number;
    }
  | { readonly kind: "inspect"; readonly id: number; readonly graph: GraphName }
  | { readonly kind: "close" };

/** Facts that a replica tells once it is ready. */
export interface Ready {
  readonly kind: "ready";
  readonly strategy: string;
  readonly backend: string;
  /** Longest time in ms until another replica can be granted after this process was killed. */
  readonly processKilledMs: number;
}

export type Reply =
  | Ready
  | {
      readonly kind: "answer";
      readonly id: number;
      /** When the tick ended: `process.hrtime`, one clock for all of a machine. */
      readonly atNs: string;
      readonly answer: TickAnswer;
    }
  | { readonly kind: "status"; readonly id: number; readonly state: string }
  | ReplicaEvent;

/** What a coordinator told its observer, and when. */
export interface ReplicaEvent {
  readonly kind: "event";
  readonly atNs: string;
  readonly graph: string;
  readonly event:
    | { readonly type: "granted"; readonly fence: string }
    | { readonly type: "refused"; readonly message: string; readonly tookMs: number }
    | { readonly type: "acquire-failed"; readonly message: string }
    | { readonly type: "lost"; readonly fence: string; readonly reason: string }
    | { readonly type: "settled"; readonly fence: string; readonly ending: string };
}

/** How a tick ended, as far as scenes need to know. */
export type TickAnswer =
  | {
      readonly status: "ran";
      readonly how: string;
      readonly fence: string;
      readonly result: string;
      readonly heldMs: number;
    }
  | {
      readonly status: "skipped";
      readonly reason: string;
      /** Label of the holder, where it is known. */
      readonly holder?: string;
      readonly message: string;
    }
  | { readonly status: "failed"; readonly message: string; readonly fence: string }
  | {
      readonly status: "lost";
      readonly reason: string;
      readonly message: string;
      readonly fence: string;
    }
  | { readonly status: "stopped"; readonly message: string }
  /** The backend could not be asked. */
  | { readonly status: "error"; readonly code: string; readonly message: string }
  /** The process ended before it could answer. */
  | { readonly status: "gone"; readonly message: string };
