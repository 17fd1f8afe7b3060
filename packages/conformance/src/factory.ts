import type { Coordinator, Observer } from "@sole-writer/core";

/** What the suite asks of one coordinator that it opens. */
export interface OpenOptions<Settings = unknown> {
  /** Applications never meet. The suite takes a fresh one for each case. */
  readonly app: string;
  /** The name that refusals must show. */
  readonly label: string;
  readonly acquireTimeoutMs: number;
  readonly onEvent: Observer;
  /** The factory's own `settings`, or those of one of its `faults`. */
  readonly settings: Settings;
}

/** Opens a coordinator. It may connect lazily; the suite closes it. */
export type Open = (options: OpenOptions) => Coordinator | Promise<Coordinator>;

/** How the suite gets the coordinators it tests. Give `module`, or `open`, or both. */
export interface CoordinatorFactory<Settings = unknown> {
  /**
   * An ES module in plain JavaScript that exports `open`. Replicas are processes of their own and load
   * it there. Needed unless `guarantees.scope` is `"process"`.
   */
  readonly module?: string | URL;
  /** Opens a coordinator in this process. Default: the `open` of `module`. */
  open?(options: OpenOptions<Settings>): Coordinator | Promise<Coordinator>;
  /** Handed to `open`, also in other processes: it must survive the structured clone algorithm. */
  readonly settings?: Settings;
  readonly faults?: Faults<Settings>;
  /** Called with the id of every process that the suite starts. */
  onSpawn?(pid: number): void;
}

/**
 * How to break the backend. A coordinator whose `guarantees.scope` is `"backend"` must give `takeAway`,
 * and either `network` or both of `unreachable` and `silent`: their laws fail without. A case whose other
 * hooks are missing is reported as not run, with the hook it wants.
 */
export interface Faults<Settings = unknown> {
  /** Where a TCP backend listens. The suite then stands between, and closes, cuts and swallows. */
  readonly network?: {
    readonly host: string;
    readonly port: number;
    /** Settings that reach the backend by 127.0.0.1 and this port instead. */
    settings(port: number): Settings;
  };
  /**
   * A way to the backend that can be cut below TCP, as by a network namespace, so that the backend itself
   * must notice. Only asked for where a frozen holder keeps its grant; a lease needs `network` alone.
   */
  readonly hostVanishes?: {
    readonly settings: Settings;
    cut(): Promise<void>;
    restore(): Promise<void>;
  };
  /** Settings for a backend that is down. Default: a closed port, by `network`. */
  readonly unreachable?: Settings;
  /** Settings for a backend that never answers. Default: a silent port, by `network`. */
  readonly silent?: Settings;
  /** Settings whose credentials the backend does not accept. */
  readonly wrongCredentials?: Settings;
  /** Ends the grant at the backend: terminates its session, deletes its key, revokes its lease. */
  takeAway?(holding: Holding): Promise<void>;
  /** Restarts the backend, with its data. Resolves when it answers again. */
  restartBackend?(): Promise<void>;
  /** Makes the backend forget everything. */
  loseData?(): Promise<void>;
  /** For scope `"process"`: the coordinator with this label does nothing from now on, as if stopped. */
  freeze?(label: string): void;
  /** For scope `"process"`: it goes on, and finds everything late. */
  thaw?(label: string): void;
}

/** A grant, as a fault needs to find it at the backend. */
export interface Holding {
  readonly app: string;
  readonly graph: string;
  readonly label: string;
  readonly holderId: string;
  readonly fence: bigint;
}
