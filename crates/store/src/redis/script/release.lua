-- KEYS lease, inbox. ARGV epoch, milliseconds until it comes up by itself or empty for never. Answers how many items wait.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return {} end
redis.call('HDEL', KEYS[1], 'owner', 'until')
if ARGV[2] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('HSET', KEYS[1], 'alarm', string.format('%.0f', now + tonumber(ARGV[2])))
end
return {redis.call('LLEN', KEYS[2])}
