-- KEYS journal. ARGV expected length, line. Answers the length where it is another.
local length = redis.call('LLEN', KEYS[1])
if length ~= tonumber(ARGV[1]) then return {length} end
redis.call('RPUSH', KEYS[1], ARGV[2])
return {}
