import type {
  AcquireOptions,
  Backlog,
  Finding,
  GraphStatus,
  Guarantees,
  Holder,
  NewUnitOf,
  Submitted,
  Unit,
  UnitChange,
  UnitQuery,
  UnitRecord,
} from "@sole-writer/core";
import type { PlainAnswer, PlainEnding, PlainError, PlainReport } from "./plain.js";

/** What a work body does. It ends when told, after some ms, or at once; and it may disobey. */
export interface WorkScript {
  readonly hold: "until-told" | number;
  /** Throws at its end. */
  readonly throws?: boolean;
  /** Goes on when it is told to stop, by the loss, by the drain, or by its caller. */
  readonly ignoresStop?: boolean;
  /** Asks for its own graph, by a tick of the same coordinator; its outcome becomes the value. */
  readonly nests?: boolean;
}

export type PlainAcquireOptions = Omit<AcquireOptions, "signal">;

/** When an acquire is given up: before it is called, right after the call, or so many ms later. */
export type GiveUp = "before" | "at-once" | number;

export interface Opened {
  readonly guarantees: Guarantees;
  readonly strategy: string;
  readonly backend: string;
  readonly holder: Holder;
  /** It has the methods of a `DurableCoordinator`. */
  readonly offersUnits: boolean;
}

/** A value, or what was thrown. */
export type Answered<T> = { readonly value: T } | { readonly error: PlainError };

/** A claim that the suite settles by hand, under the name of its run. */
export interface PlainClaim {
  readonly kind: "granted";
  readonly run: string;
  readonly graph: string;
  readonly fence: bigint;
  readonly holder: Holder;
  readonly unit?: Unit;
}

/** What can be asked of units and done to one. */
export type UnitAsk =
  | { readonly do: "read"; readonly query: UnitQuery }
  | { readonly do: "count" }
  | { readonly do: "retry" | "cancel" | "discard"; readonly id: string }
  | { readonly do: "resume"; readonly id: string; readonly value: unknown };

export type UnitsAnswer = readonly UnitRecord[] | readonly Backlog[] | UnitChange;

/** Everything a replica can be told, and what it answers. `coordinator` and `run` are chosen by the suite. */
export interface Commands {
  open: {
    ask: {
      readonly coordinator: string;
      readonly module: string | undefined;
      readonly app: string;
      readonly label: string;
      readonly acquireTimeoutMs: number;
      readonly settings: unknown;
      readonly oracle: string;
    };
    answer: Opened;
  };
  acquire: {
    ask: {
      readonly coordinator: string;
      readonly run: string;
      readonly graph: string;
      readonly options: PlainAcquireOptions;
      readonly giveUp?: GiveUp;
    };
    answer: PlainAnswer;
  };
  /** Each answers with the error that was thrown, if any. */
  settle: {
    ask: { readonly run: string; readonly ending: PlainEnding | "dispose" };
    answer: PlainError | undefined;
  };
  assertHeld: { ask: { readonly run: string }; answer: PlainError | undefined };
  confirmHeld: { ask: { readonly run: string }; answer: PlainError | undefined };
  tick: {
    ask: {
      readonly coordinator: string;
      readonly run: string;
      readonly graph: string;
      readonly work: WorkScript;
      readonly options: PlainAcquireOptions;
      /** The barrier: the tick begins at this time of the shared clock. */
      readonly startAt?: bigint;
    };
    answer: PlainReport;
  };
  /** `finish` ends a work that holds; `abort` aborts the signal that the tick was given. */
  tell: { ask: { readonly run: string; readonly what: "finish" | "abort" }; answer: undefined };
  /** Ticks on all graphs at once, again and again, for `forMs`. */
  storm: {
    ask: {
      readonly coordinator: string;
      readonly graphs: readonly string[];
      readonly forMs: number;
    };
    answer: StormReport;
  };
  submit: {
    ask: { readonly coordinator: string; readonly units: readonly NewUnitOf[] };
    answer: Answered<readonly Submitted[]>;
  };
  claim: {
    ask: {
      readonly coordinator: string;
      /** The runs are named after it. */
      readonly run: string;
      readonly limit: number;
      readonly graphs?: readonly string[];
    };
    answer: Answered<readonly PlainClaim[]>;
  };
  unit: {
    ask: { readonly coordinator: string; readonly what: UnitAsk };
    answer: Answered<UnitsAnswer>;
  };
  inspect: {
    ask: { readonly coordinator: string; readonly graph?: string };
    answer: { readonly statuses: readonly GraphStatus[] } | { readonly error: PlainError };
  };
  preflight: {
    ask: { readonly coordinator: string };
    answer: { readonly findings: readonly Finding[] } | { readonly error: PlainError };
  };
  close: {
    ask: { readonly coordinator: string; readonly graceMs?: number };
    answer: PlainError | undefined;
  };
  /** Ends all work, closes every coordinator, and is as new. */
  reset: { ask: object; answer: undefined };
  /** What keeps the event loop of the process alive. */
  resources: { ask: object; answer: readonly string[] };
  /** Closes every coordinator and the channel to the suite; the process should end by itself then. */
  leave: { ask: object; answer: undefined };
}

export interface StormReport {
  readonly ran: number;
  readonly skipped: number;
  readonly failed: number;
  /** Everything else, in words. */
  readonly odd: readonly string[];
}

/** What a replica says unasked. */
export type ReplicaEvent =
  | { readonly event: "began"; readonly run: string; readonly fence: bigint; readonly at: bigint }
  /** `grant.signal` aborted. */
  | {
      readonly event: "lost";
      readonly run: string;
      readonly error: PlainError;
      readonly at: bigint;
    }
  | { readonly event: "draining"; readonly run: string; readonly at: bigint }
  /** The observer of a coordinator was told of a loss. */
  | { readonly event: "observed-loss"; readonly coordinator: string; readonly fence: bigint }
  /** Something that must not happen in a process: an unhandled rejection, a warning. */
  | { readonly event: "trouble"; readonly what: string };

/** How the suite reaches a replica, in this process or another. */
export interface Link {
  readonly pid: number;
  request<Op extends keyof Commands>(
    op: Op,
    ask: Commands[Op]["ask"],
  ): Promise<Commands[Op]["answer"]>;
  listen(listener: (event: ReplicaEvent) => void): () => void;
}

export type Handlers = {
  readonly [Op in keyof Commands]: (ask: Commands[Op]["ask"]) => Promise<Commands[Op]["answer"]>;
};

export interface RequestMessage {
  readonly id: number;
  readonly op: keyof Commands;
  readonly ask: unknown;
}
export type ReplyMessage =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: string };
