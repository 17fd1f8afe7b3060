import type { AcquireOptions, Coordinator } from "./coordinator.js";
import { isGrantLost } from "./errors.js";
import type { Ending, Grant } from "./grant.js";
import type { Outcome } from "./outcome.js";

/**
 * `signal` gives up an acquire under way. Once the work runs, what it throws after `signal` aborted, or
 * after the coordinator began to close, is a hand-back and no failure.
 */
export type TickOptions = AcquireOptions;

/**
 * Acquire, work, settle: one attempt to run a graph.
 *
 * The grant is released only after `work` has settled. Work that returns is `done`, work that throws is
 * `failed`; work may settle the grant itself, and then the outcome says what it said.
 * @throws {BackendError} and everything else that `acquire` throws. Errors of the work are outcomes.
 */
export async function tick<T>(
  coordinator: Coordinator,
  graph: string,
  work: (grant: Grant) => Promise<T>,
  options: TickOptions = {},
): Promise<Outcome<T>> {
  const answer = await coordinator.acquire(graph, options);
  if (!answer.granted) return { status: "skipped", graph, refusal: answer };
  return await settleAfter(answer, work, options);
}

/**
 * Work, settle: the second half of {@link tick}, for a grant that is there already, as from `claim`.
 *
 * It never throws: what the work throws, a loss and a settling that failed are outcomes. Once `signal` has
 * aborted, what the work throws is a hand-back.
 */
export async function settleAfter<T>(
  grant: Grant,
  work: (grant: Grant) => Promise<T>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Exclude<Outcome<T>, { readonly status: "skipped" }>> {
  const startedAt = performance.now();
  const { graph, fence } = grant;
  const facts = () => ({ graph, fence, heldMs: performance.now() - startedAt });

  const worked = await attempt(async () => {
    // A process that stood still since the grant was given must not begin.
    grant.assertHeld();
    return await work(grant);
  });
  const settled = await attempt(() => grant.settle(endingFor(worked, grant, options.signal)));

  if (!settled.ok) {
    const { error } = settled;
    if (isGrantLost(error)) {
      const threw = !worked.ok && worked.error !== error;
      return { status: "lost", error, ...(threw && { workError: worked.error }), ...facts() };
    }
    if (!worked.ok)
      return {
        status: "failed",
        error: worked.error,
        during: "work",
        settleError: error,
        ...facts(),
      };
    return { status: "failed", error, during: "settle", ...facts() };
  }
  const { ending } = grant;
  if (ending?.kind === "handed-back") {
    const workError = !worked.ok && { workError: worked.error };
    return { status: "handed-back", reason: ending.reason, ...workError, ...facts() };
  }
  if (ending?.kind === "waiting") return { status: "waiting", on: ending.on, ...facts() };
  if (ending?.kind === "failed")
    return { status: "failed", error: ending.error, during: "work", ...facts() };
  if (!worked.ok) return { status: "failed", error: worked.error, during: "work", ...facts() };
  return { status: "ran", value: worked.value, ...facts() };
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

async function attempt<T>(action: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await action() };
  } catch (error) {
    return { ok: false, error };
  }
}

function endingFor(
  worked: Attempt<unknown>,
  grant: Grant,
  signal: AbortSignal | undefined,
): Ending {
  if (worked.ok) return { kind: "done" };
  if (signal?.aborted) return { kind: "handed-back", reason: "stopped by its caller" };
  if (grant.draining.aborted)
    return { kind: "handed-back", reason: "stopped because its coordinator is closing" };
  return { kind: "failed", error: worked.error };
}
