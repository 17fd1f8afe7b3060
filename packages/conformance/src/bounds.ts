/**
 * The time bounds of the suite. None of them is waited for when things go well: each ends a wait for an
 * event that did not come.
 */

/** Added to what a coordinator states: the turn of a process among sixteen on two busy cores. */
export const slackMs = 1_500;

/**
 * Within this an acquire is answered "at once": a connection, a round trip, and `slackMs`. It is well
 * below `acquireTimeoutMs`, so that an acquire that queues behind a holder is told from one that gave up.
 */
export const answerWithinMs = 3_000;

/** The limit the suite sets for acquires. */
export const acquireTimeoutMs = 6_000;

/** A process that has nothing left to do ends within this: `slackMs`, and the close of its connections. */
export const exitWithinMs = 3_000;

/** A process started by the suite is ready within this, also as the sixteenth on two busy cores. */
export const startWithinMs = 30_000;

/** Between two tries where the suite has to ask again and again. Short beside every other bound. */
export const pollEveryMs = 20;
