import { InvalidOptionError } from "@sole-writer/core";
import { Client } from "pg";

/** Where a URL points to, without its credentials: for messages. */
export interface Address {
  /** `localhost:5432/warehouse` */
  readonly shown: string;
}

/**
 * Checks a `postgres://` URL when it is given, not when it is first used. Nothing is connected.
 * @throws {InvalidOptionError} which never repeats the password.
 */
export function assertConnectionUrl(option: string, url: unknown): asserts url is string {
  if (typeof url !== "string" || !/^postgres(ql)?:\/\//.test(url))
    throw new InvalidOptionError(
      `${option} must be a URL such as postgres://user:password@host:5432/database${
        url === undefined || url === "" ? ", and none was given" : ""
      }.`,
    );
  try {
    new Client({ connectionString: url });
  } catch (cause) {
    throw new InvalidOptionError(
      `${option} cannot be read as a PostgreSQL URL: percent-encode what is special in user and password.`,
      { cause: cause instanceof Error ? cause.name : undefined },
    );
  }
}

/** Host, port and database of a checked URL. */
export function addressOf(url: string): Address {
  const { host, port, database } = new Client({ connectionString: url });
  return { shown: `${host}:${port}/${database ?? ""}` };
}
