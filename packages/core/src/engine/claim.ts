import type { ClaimOptions, DurableCoordinator } from "../durable/durable-coordinator.js";
import { assertDurationMs } from "../durations.js";
import {
  AcquireAbortedError,
  CoordinatorClosedError,
  InvalidOptionError,
  isSoleWriterError,
  type SoleWriterError,
} from "../errors.js";
import type { Grant } from "../grant.js";
import { assertGraphName } from "../name.js";
import type { ClaimPort, Term } from "../term-port.js";
import { trustWindow } from "../trust-window.js";
import { shown } from "../words.js";
import type { AcquireHome } from "./acquire.js";
import { backendFailure } from "./faults.js";
import { handBack, tooLate } from "./hand-back.js";
import { LimitReached, limited } from "./limited.js";
import { lifeOf, liveGrant } from "./live-grant.js";

const mostGrants = 1_000;
/** No graph has this name, so that what was claimed and nobody waits for is cleaned up in one place. */
const claimsInAll = "";

interface Question {
  readonly graphs: readonly string[] | undefined;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** The way from a claim to its grants: as that of an acquire, for whatever is due. */
export function claimAt<T extends Term>(
  { home, desk, closing, acquireTimeoutMs, granted }: AcquireHome<T>,
  port: ClaimPort<T>,
): DurableCoordinator["claim"] {
  const { clock, holder } = home;
  const where = `${port.strategy} on ${port.backend}`;

  function checked(asked: ClaimOptions): Question {
    const { graphs, limit = 1, signal, acquireTimeoutMs: timeoutMs = acquireTimeoutMs } = asked;
    for (const graph of graphs ?? []) assertGraphName(graph);
    if (!Number.isInteger(limit) || limit < 1 || limit > mostGrants)
      throw new InvalidOptionError(
        `limit must be a whole number from 1 to ${mostGrants}, not ${shown(limit)}.`,
      );
    assertDurationMs("acquireTimeoutMs", timeoutMs);
    return { graphs, limit, signal, timeoutMs };
  }

  async function ask({ graphs, limit, signal, timeoutMs }: Question): Promise<readonly Grant[]> {
    const signals = [signal, closing];
    if (signals.some((one) => one?.aborted)) throw new LimitReached("aborted");
    const startedAt = clock.now();
    let sentAt = startedAt;
    const terms = await limited(
      clock,
      { timeoutMs, signals },
      (gaveUp) =>
        port.claim({
          ...(graphs && { graphs }),
          except: unsettled(),
          limit,
          signal: gaveUp,
          timeoutMs,
          sending() {
            sentAt = clock.now();
          },
        }),
      (straggler) => desk.clean(claimsInAll, handBackLate(straggler)),
    );
    // From here on nothing is awaited, as in an acquire.
    const isLate = (term: T) => trustWindow(clock, lifeOf(port, term), sentAt).leftMs() <= 0;
    const late = closing.aborted || signal?.aborted ? terms : terms.filter(isLate);
    if (late.length > 0) {
      const returned = late.map((term) => handBack(home, term, "its answer came too late"));
      desk.clean(
        claimsInAll,
        Promise.all(returned).then(() => undefined),
      );
    }
    const inTime = terms.filter((term) => !late.includes(term));
    const [first] = late;
    if (first && inTime.length === 0)
      throw closing.aborted || signal?.aborted
        ? new LimitReached("aborted")
        : tooLate("BACKEND_TIMEOUT", first.graph, where);
    const lives = inTime.map((term) => liveGrant(home, term, sentAt, undefined));
    for (const live of lives) desk.adopt(live);
    if (lives.length > 0) granted();
    const tookMs = clock.now() - startedAt;
    for (const { term } of lives)
      home.publish({ ...factsOf(term.graph), type: "granted", fence: term.fence, tookMs });
    return lives.map(({ grant }) => grant);
  }

  /** A run that is lost and goes on must not meet the next one of its graph in the same process. */
  function unsettled(): readonly string[] {
    if (port.exclusive === "unit") return [];
    return desk
      .grants()
      .filter((live) => live.isLost)
      .map((live) => live.term.graph);
  }

  async function handBackLate(straggler: Promise<readonly T[]>): Promise<void> {
    const terms = await straggler.catch(() => []);
    const reason = "nobody waited for the grant any more";
    await Promise.all(terms.map((term) => handBack(home, term, reason)));
  }

  function factsOf(graph: string) {
    return { strategy: port.strategy, backend: port.backend, graph, holder };
  }

  function failure(cause: unknown, { signal, timeoutMs }: Question): SoleWriterError {
    if (isSoleWriterError(cause)) return cause;
    if (cause instanceof LimitReached && cause.why === "aborted")
      return closing.aborted
        ? new CoordinatorClosedError(
            `Cannot claim: this coordinator (${where}, ${holder.label}) is closed.`,
          )
        : new AcquireAbortedError(
            `The claim (${where}) was given up by its caller; nothing is left behind.`,
            { cause: signal?.reason },
          );
    return backendFailure(cause, {
      what: `Could not claim (${where})`,
      limit: `acquireTimeoutMs ${timeoutMs}`,
      advice: `Nothing was run. Look whether ${port.backend} is up and reachable.`,
    });
  }

  return async (asked = {}) => {
    const question = checked(asked);
    try {
      return await ask(question);
    } catch (cause) {
      throw failure(cause, question);
    }
  };
}
