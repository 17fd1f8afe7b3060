import { InvalidOptionError } from "@sole-writer/core";
import type { GuardMode } from "./guard-mode.js";

/** Where a checkpoint guard is or shall be. */
export interface GuardPlace {
  /** The schema of the saver's tables. Default `"public"`, as the saver's own. */
  readonly schema?: string;
}

export interface GuardOptions extends GuardPlace {
  /** Default `"registered"`. */
  readonly mode?: GuardMode;
}

const modes: readonly unknown[] = ["registered", "all"];

/** @throws {InvalidOptionError} for a mode or a schema that is none. */
export function checkGuardOptions(options: GuardOptions): Required<GuardOptions> {
  const { schema = "public", mode = "registered" } = options;
  if (typeof schema !== "string" || schema === "" || schema.includes("\0"))
    throw new InvalidOptionError(
      `schema must be the name of the schema that holds the saver's tables, not ${JSON.stringify(schema)}.`,
    );
  if (!modes.includes(mode))
    throw new InvalidOptionError(
      `mode must be "registered" (threads that were entered) or "all" (every thread), not ${JSON.stringify(mode)}.`,
    );
  return { schema, mode };
}
