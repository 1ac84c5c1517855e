-- KEYS work. ARGV milliseconds. Takes the entry that has waited longest out of the others' sight for a while.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)
if #due == 0 then return {} end
local hidden = string.format('%.0f', now + tonumber(ARGV[1]))
redis.call('ZADD', KEYS[1], hidden, due[1])
return {due[1], hidden}
