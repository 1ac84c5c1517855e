-- KEYS lease. ARGV owner, milliseconds. Answers epoch, end, and who did not give it back. The epoch is a clock that never stands still: it needs no memory of erased sessions.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = redis.call('HMGET', KEYS[1], 'epoch', 'until', 'owner')
if lease[2] and tonumber(lease[2]) > now then return {} end
local epoch = math.max(tonumber(lease[1] or 0) + 1, time[1] * 1000000 + time[2])
local ends = now + tonumber(ARGV[2])
local text = string.format('%.0f', epoch)
redis.call('HSET', KEYS[1], 'epoch', text, 'owner', ARGV[1], 'until', string.format('%.0f', ends))
redis.call('HDEL', KEYS[1], 'alarm')
redis.call('PERSIST', KEYS[1])
return {text, string.format('%.0f', ends), lease[3] or ''}
