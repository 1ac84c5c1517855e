-- KEYS work, sessions. ARGV session, milliseconds from now, LT or GT.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], ARGV[3], now + tonumber(ARGV[2]), ARGV[1])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
