-- KEYS lease, inbox. ARGV epoch. Answers how many items wait.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return {} end
redis.call('HDEL', KEYS[1], 'owner', 'until')
return {redis.call('LLEN', KEYS[2])}
