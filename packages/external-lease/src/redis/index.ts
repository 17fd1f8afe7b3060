export type { RedisLeaseOptions } from "./options.js";
export { redisLease } from "./redis-lease.js";
