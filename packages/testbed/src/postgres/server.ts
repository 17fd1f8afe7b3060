import type { Settings } from "./data-folder.js";
import type { UrlParts } from "./urls.js";

/** How a server is shut down: `fast` disconnects everybody, `immediate` is a crash with recovery. */
export type ShutDownMode = "fast" | "immediate";

/** What any server for tests can be asked, whoever runs it. */
export interface Database extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** 15 for PostgreSQL 15.4. */
  readonly majorVersion: number;
  /** `postgres://…`; without parts for the superuser and the database `postgres`. */
  url(at?: UrlParts): string;
  /** A new empty database; resolves with its URL. */
  createDatabase(): Promise<string>;
  /** One statement on a connection of its own, to `url` when given. Throws the driver's error. */
  query<R = Record<string, unknown>>(sql: string, values?: unknown[], url?: string): Promise<R[]>;
  /** Ends what was started, removes what was created. A second call changes nothing. */
  stop(): Promise<void>;
}

/** A PostgreSQL that the caller alone uses, and may break. */
export interface PostgresServer extends Database {
  /** Shut down and started again on the same port with the same data; answers when it resolves. */
  restart(mode?: ShutDownMode): Promise<void>;
  shutDown(mode?: ShutDownMode): Promise<void>;
  startAgain(): Promise<void>;
  /** SIGSTOP for one backend by its pid (`pg_backend_pid()`), or for the whole server. */
  pause(pid?: number): void;
  /** SIGCONT for what `pause` stopped. */
  resume(pid?: number): void;
  /** A read-only copy that follows this server by streaming replication. Stop it first. */
  startStandby(): Promise<PostgresServer>;
}

/** How `startPostgres` starts. */
export interface PostgresOptions {
  /** Lines for `postgresql.conf`; by default nothing is flushed to disk (`fsync` is off). */
  readonly settings?: Settings;
  /** Folder with `initdb` and `postgres`; default SOLE_WRITER_POSTGRES_BIN, else the ones from npm. */
  readonly binaries?: string;
}
