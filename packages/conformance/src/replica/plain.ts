import {
  type Ending,
  type Grant,
  type Holder,
  isBackendError,
  isGrantLost,
  isSoleWriterError,
  type Outcome,
  type Refusal,
} from "@sole-writer/core";

/** An error in a form that crosses processes. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  /** The code of this family of errors, or that of whoever threw it. */
  readonly code?: string;
  /** Of a `GrantLostError`. */
  readonly reason?: string;
  readonly isSoleWriterError: boolean;
  readonly isBackendError: boolean;
  readonly isGrantLost: boolean;
  readonly cause?: PlainError;
}

export function plainError(thrown: unknown, depth = 0): PlainError {
  const guards = {
    isSoleWriterError: isSoleWriterError(thrown),
    isBackendError: isBackendError(thrown),
    isGrantLost: isGrantLost(thrown),
  };
  if (!(thrown instanceof Error))
    return { name: "not an Error", message: String(thrown), ...guards };
  const code = "code" in thrown && typeof thrown.code === "string" ? { code: thrown.code } : {};
  return {
    name: thrown.name,
    message: thrown.message,
    ...code,
    ...(isGrantLost(thrown) && { reason: thrown.reason }),
    ...guards,
    ...(thrown.cause !== undefined && depth < 5 && { cause: plainError(thrown.cause, depth + 1) }),
  };
}

/** What `acquire` answered, with the times on the clock that all processes of this machine share. */
export type PlainAnswer = Times &
  (
    | {
        readonly kind: "granted";
        readonly graph: string;
        readonly fence: bigint;
        readonly holder: Holder;
      }
    | { readonly kind: "refused"; readonly refusal: Refusal }
    | { readonly kind: "error"; readonly error: PlainError }
  );

/** How a tick ended; `error` is what `tick` itself threw. */
export type PlainReport = Times &
  (
    | {
        readonly kind: "outcome";
        readonly status: Outcome<unknown>["status"];
        readonly fence?: bigint;
        readonly value?: unknown;
        readonly refusal?: Refusal;
        readonly reason?: string;
        readonly error?: PlainError;
        readonly workError?: PlainError;
      }
    | { readonly kind: "error"; readonly error: PlainError }
  );

export interface Times {
  readonly askedAt: bigint;
  readonly answeredAt: bigint;
}

/** An `Ending` without what cannot cross. */
export type PlainEnding = Ending["kind"];

export function endingOf(kind: PlainEnding): Ending {
  switch (kind) {
    case "done":
      return { kind };
    case "failed":
      return { kind, error: new Error("the work failed, as the suite told it to") };
    case "handed-back":
      return { kind, reason: "the suite told it to" };
    case "waiting":
      return { kind, on: "the suite" };
  }
}

export function plainRefusal(refusal: Refusal): Refusal {
  const { granted, graph, reason, message, holder, keySharedWith } = refusal;
  return {
    granted,
    graph,
    reason,
    message,
    ...(holder && { holder: plainHolder(holder) }),
    ...(keySharedWith !== undefined && { keySharedWith }),
  };
}

export function plainHolder({ id, label, since, fence }: Holder): Holder {
  return { id, label, ...(since && { since }), ...(fence !== undefined && { fence }) };
}

export function plainGrant({ graph, fence, holder }: Grant) {
  return { kind: "granted", graph, fence, holder: plainHolder(holder) } as const;
}

export function plainOutcome(outcome: Outcome<unknown>) {
  const { status } = outcome;
  return {
    kind: "outcome",
    status,
    ...("fence" in outcome && { fence: outcome.fence }),
    ...("value" in outcome && { value: outcome.value }),
    ...("refusal" in outcome && { refusal: plainRefusal(outcome.refusal) }),
    ...("reason" in outcome && { reason: outcome.reason }),
    ...("error" in outcome && { error: plainError(outcome.error) }),
    ...("workError" in outcome && { workError: plainError(outcome.workError) }),
  } as const;
}
