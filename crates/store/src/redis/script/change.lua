-- KEYS approvals, inbox, lease. ARGV approval, what is there, what shall be, news for the inbox, epoch; empty is none.
if ARGV[5] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local lease = redis.call('HMGET', KEYS[3], 'epoch', 'until')
  if lease[1] ~= ARGV[5] or not lease[2] or tonumber(lease[2]) <= now then return 'fenced' end
end
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 'moved' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if ARGV[4] ~= '' then redis.call('RPUSH', KEYS[2], ARGV[4]) end
return 'done'
