/**
 * The server's clock in microseconds, as digits. Numbers in Lua are floats, which hold no more than 2^53:
 * a fence is never one, only text that is compared by length and then by its digits.
 */
export const serverMicros = `
local function server_micros()
  local time = redis.call('TIME')
  return time[1] .. string.format('%06d', time[2])
end
local function is_less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end`;

/**
 * A request that was given up must not be carried out later, when a server that stood still goes on and
 * reads what had been sent to it. So each says until when it is good, by the server's own clock.
 */
export const refuseLate = `
local now = server_micros()
if is_less(deadline, now) then return {'late'} end`;
