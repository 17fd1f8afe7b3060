import { refuseLate, serverMicros } from "./fragments.js";

/**
 * Makes a lease live on, if it is still the very one. Atomic as one script; it never creates one, so a
 * renewal that comes too late changes nothing. KEYS: lease. ARGV: deadline, ttl in ms, attempt
 */
export const renew = `
${serverMicros}
local deadline, ttl, attempt = unpack(ARGV)
${refuseLate}
if redis.call('HGET', KEYS[1], 'attempt') ~= attempt then return {'gone', now} end
redis.call('PEXPIRE', KEYS[1], ttl)
return {'held', now}`;
