/**
 * Which threads the guard watches. `registered`: those that were ever entered under a grant; a thread that
 * nobody entered stays open to everybody. `all`: every thread of the schema.
 */
export type GuardMode = "registered" | "all";
