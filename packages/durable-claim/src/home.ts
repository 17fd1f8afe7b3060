import type { UnitPolicy } from "./options.js";

/** What every part of a durable-claim coordinator knows of it. */
export interface ClaimHome {
  readonly app: string;
  readonly schema: string;
  readonly holder: { readonly id: string; readonly label: string };
  readonly exclusive: "graph" | "unit";
  /** Most units of one graph at a time, with `exclusive: "unit"`. */
  readonly parallel: number | undefined;
  readonly leaseMs: number;
  readonly maxPayloadBytes: number;
  policyOf(graph: string): UnitPolicy;
  /** `Could not ask for "g" (durable-claim on postgres at localhost:5432/app)`: how a message begins. */
  what(verb: string, graph?: string): string;
}
