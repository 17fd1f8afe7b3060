export { durableClaim } from "./durable-claim.js";
export type { ClaimSettings, DurableClaimOptions, Reach, UnitPolicy } from "./options.js";
