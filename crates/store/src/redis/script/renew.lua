-- KEYS lease. ARGV epoch, milliseconds.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = redis.call('HMGET', KEYS[1], 'epoch', 'until')
if lease[1] ~= ARGV[1] or not lease[2] or tonumber(lease[2]) <= now then return {} end
local ends = string.format('%.0f', now + tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'until', ends)
return {ends}
