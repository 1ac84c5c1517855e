-- KEYS lease, events, inbox. ARGV epoch, expected length, drained, events...
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = redis.call('HMGET', KEYS[1], 'epoch', 'until')
if lease[1] ~= ARGV[1] or not lease[2] or tonumber(lease[2]) <= now then return {'fenced', 0} end
local length = redis.call('LLEN', KEYS[2])
if length ~= tonumber(ARGV[2]) then return {'moved', length} end
local held = redis.call('LLEN', KEYS[3])
if tonumber(ARGV[3]) > held then return {'overdrawn', held} end
for at = 4, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
if tonumber(ARGV[3]) > 0 then redis.call('LTRIM', KEYS[3], ARGV[3], -1) end
return {'done', length + #ARGV - 3}
