-- KEYS lease. ARGV epoch. Ends a lease in a way that somebody has to follow; answers whether it was the caller's.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return {} end
local time = redis.call('TIME')
redis.call('HDEL', KEYS[1], 'owner')
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return {1}
