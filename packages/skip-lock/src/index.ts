export { crcKey, type KeyForm, type LockKey, lockKey, lockSpaceOf } from "./key.js";
export type { SkipLockOptions } from "./options.js";
export { skipLock } from "./skip-lock.js";
