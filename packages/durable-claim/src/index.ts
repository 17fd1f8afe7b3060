export { durableClaim } from "./durable-claim.js";
export type { DurableClaimOptions, UnitPolicy } from "./options.js";
