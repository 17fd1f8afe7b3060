import { BackendError } from "../errors.js";
import type { Term } from "../term-port.js";
import { limited } from "./limited.js";
import type { GrantHome } from "./live-grant.js";

/** Gives back a term that became no grant. Never rejects. */
export async function handBack<T extends Term>(
  { port, clock, releaseTimeoutMs }: GrantHome<T>,
  term: T,
  reason: string,
): Promise<void> {
  try {
    const answer = await limited(clock, { timeoutMs: releaseTimeoutMs }, (signal) =>
      port.settle(term, { kind: "handed-back", reason }, undefined, signal),
    );
    if (answer === "gone") port.abandon(term);
  } catch {
    port.abandon(term);
  }
}

/** The backend granted it, and it was over before anybody could be told. */
export function tooLate(
  code: "BACKEND_LOST" | "BACKEND_TIMEOUT",
  graph: string,
  where: string,
  cause?: unknown,
): BackendError {
  const why =
    code === "BACKEND_LOST"
      ? "the session ended as soon as it was granted"
      : "the answer came when the grant was already over";
  return new BackendError(
    code,
    `Could not hold "${graph}" (${where}): ${why}. Nothing was run; ask again.`,
    cause === undefined ? undefined : { cause },
  );
}
