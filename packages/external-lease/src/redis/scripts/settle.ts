import { serverMicros } from "./fragments.js";

/**
 * Ends a lease and records that its run is done, if it is still the very one. Atomic as one script, so
 * nobody is granted the graph between the record and the release. Good at any time: what it ends is its own.
 *
 * KEYS: graph, lease. ARGV: attempt, 1 when it is done, window, its ms; empty where there is none
 */
export const settle = `
${serverMicros}
local attempt, is_done, window, window_ms = unpack(ARGV)
if redis.call('HGET', KEYS[2], 'attempt') ~= attempt then return {'gone'} end
if is_done == '1' then
  redis.call('HSET', KEYS[1], 'last_done_us', server_micros())
  if window ~= '' then redis.call('HSET', KEYS[1], 'last_window', window, 'last_window_ms', window_ms) end
end
redis.call('DEL', KEYS[2])
return {'settled'}`;
