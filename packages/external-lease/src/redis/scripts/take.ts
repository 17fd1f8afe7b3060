import { refuseLate, serverMicros } from "./fragments.js";

/**
 * Takes the lease of a graph, or says who has it.
 *
 * Atomic, because Redis runs one script at a time: nobody comes between the look and the write. The fence is
 * raised in the same script: one above the last, or the server's microseconds where those are more, so
 * that it goes on rising when the data was lost. HINCRBY counts in 64 bits. The hash of the graph is never
 * deleted. A take that is sent again finds its own attempt, and answers as it did.
 *
 * KEYS: graph, lease. ARGV: deadline, ttl in ms, attempt, holder id, label, window, its ms, interval in us;
 * the last three empty where there is none.
 */
export const take = `
${serverMicros}
local deadline, ttl, attempt, holder, label, window, window_ms, interval_us = unpack(ARGV)
${refuseLate}
local held = redis.call('HMGET', KEYS[2], 'attempt', 'holder', 'label', 'fence', 'since_us')
if held[1] == attempt then return {'taken', held[4], held[5], now} end
if held[1] then return {'held', held[2], held[3], held[4], held[5], now} end
local known = redis.call('HMGET', KEYS[1], 'last_window', 'last_window_ms', 'last_done_us')
if window ~= '' then
  if known[1] == window then return {'ran', now} end
  if window_ms ~= '' and known[2] and known[2] ~= '' and tonumber(window_ms) <= tonumber(known[2]) then return {'ran', now} end
end
if interval_us ~= '' and known[3] and tonumber(now) - tonumber(known[3]) < tonumber(interval_us) then return {'ran', now} end
redis.call('HINCRBY', KEYS[1], 'fence', 1)
local fence = redis.call('HGET', KEYS[1], 'fence')
if is_less(fence, now) then
  fence = now
  redis.call('HSET', KEYS[1], 'fence', fence)
end
redis.call('HSET', KEYS[2], 'attempt', attempt, 'holder', holder, 'label', label, 'fence', fence, 'since_us', now)
redis.call('PEXPIRE', KEYS[2], ttl)
return {'taken', fence, now, now}`;
