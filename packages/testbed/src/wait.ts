/** Waits for `promise` at most `withinMs`, then throws what `late` makes. */
export async function within<T>(
  promise: Promise<T>,
  withinMs: number,
  late: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), withinMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Tries until it succeeds, with a short pause between two tries; for servers that announce nothing.
 * Throws what `late` makes of the last error when `withinMs` are over.
 */
export async function untilItWorks<T>(
  attempt: () => Promise<T>,
  withinMs: number,
  late: (lastError: unknown) => Error,
): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof GiveUp) throw error.reason;
      if (performance.now() > giveUpAt) throw late(error);
    }
    await new Promise((resolve) => setTimeout(resolve, betweenTriesMs));
  }
}

const betweenTriesMs = 20;

/** Thrown by an attempt when another try cannot help. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
  readonly reason: Error;
  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}
