import type { Guarantees } from "@sole-writer/core";
import { check, NotRun } from "../check.js";
import type { Faults } from "../factory.js";
import type { SuiteOptions } from "../options.js";
import type { OracleRun } from "../oracle/findings.js";
import type { Exit } from "../replica/process-link.js";
import type { Replica } from "./replica.js";
import type { Wire } from "./wire.js";

/** How a replica is opened. */
export interface ReplicaOptions {
  /** Default: the app of the case. */
  readonly app?: string;
  /** Default: the settings of the factory. */
  readonly settings?: { readonly value: unknown };
  readonly acquireTimeoutMs?: number;
  /** A second coordinator in the process of this one. Default: a process of its own. */
  readonly beside?: Replica;
  /** A process of its own also where the scope is one process; wants `module`. */
  readonly place?: "process";
}

/** A wire to the backend, and the settings that lead over it. */
export interface WireToBackend extends Wire {
  readonly settings: { readonly value: unknown };
}

/** What one case has to work with. */
export interface CaseContext {
  readonly guarantees: Guarantees;
  readonly options: Required<SuiteOptions>;
  /** Fresh for this case, so that cases never meet. */
  readonly app: string;
  readonly graph: string;
  replica(label: string, how?: ReplicaOptions): Promise<Replica>;
  replicas(...labels: string[]): Promise<Replica[]>;
  /** The hook, or the end of the case: not run, or a broken law where the scope demands the hook. */
  fault<Name extends keyof Faults>(name: Name): NonNullable<Faults[Name]>;
  wire(): Promise<WireToBackend>;
  /** Settings for a backend that is down. */
  unreachable(): Promise<{ readonly value: unknown }>;
  /** Settings for a backend that never answers. */
  silent(): Promise<{ readonly value: unknown }>;
  /** Ends the process of `replica` as SIGKILL does. Resolves to a time just before. */
  kill(replica: Replica): Promise<bigint>;
  /** Stops the process of `replica` as SIGSTOP does. Resolves to a time just before. */
  freeze(replica: Replica): Promise<bigint>;
  thaw(replica: Replica): Promise<void>;
  /** Closes everything in the process of `replica`; resolves when the process has ended by itself. */
  leave(replica: Replica, ms: number): Promise<Exit>;
  /** A time by which every replica can stand at the barrier. */
  barrier(): bigint;
  /** The oracle's runs so far. */
  runs(): OracleRun[];
  /**
   * From now on an overlap of this run with later ones is no finding: its holder was frozen, and a
   * frozen process cannot be told. The fence is for that.
   */
  excuse(run: string): void;
}

/** Picks a hook. @throws {NotRun} or {LawBroken} when it is missing. */
export function pickFault<Name extends keyof Faults>(
  faults: Faults,
  name: Name,
  isDemanded: boolean,
): NonNullable<Faults[Name]> {
  const found = faults[name];
  if (found !== undefined && found !== null) return found;
  check(
    !isDemanded,
    `the factory has no "faults.${name}", and a coordinator whose scope is "backend" must give it`,
  );
  throw new NotRun(`faults.${name}`);
}
