import type { BackendError, Grant, Refusal } from "@sole-writer/core";
import { isBackendError } from "@sole-writer/core";

/** The grant that was expected; throws with the sentence of a refusal. */
export async function granted(answer: Promise<Grant | Refusal>): Promise<Grant> {
  const given = await answer;
  if (!given.granted) throw new Error(`Expected a grant, and was refused: ${given.message}`);
  return given;
}

/** The refusal that was expected. */
export async function refused(answer: Promise<Grant | Refusal>): Promise<Refusal> {
  const given = await answer;
  if (given.granted) throw new Error(`Expected a refusal, and "${given.graph}" was granted.`);
  return given;
}

/** The fault that was expected: neither a grant nor a refusal. */
export async function faulted(answer: Promise<Grant | Refusal>): Promise<BackendError> {
  const given = await answer.catch((error: unknown) => error);
  if (isBackendError(given)) return given;
  throw new Error(`Expected a fault of the backend, not ${JSON.stringify(given)}`, {
    cause: given,
  });
}

export const done = { kind: "done" } as const;
