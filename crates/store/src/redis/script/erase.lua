-- KEYS lease, events, inbox, seen, approvals. ARGV 'unowned' to spare a session with an owner, lines to keep instead...
-- Answers the approvals that were there. The epoch stays for a week, against a server whose clock goes back.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = redis.call('HMGET', KEYS[1], 'epoch', 'until')
if ARGV[1] == 'unowned' and lease[2] and tonumber(lease[2]) > now then return false end
local approvals = redis.call('HKEYS', KEYS[5])
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
for at = 2, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
redis.call('HDEL', KEYS[1], 'owner', 'until', 'alarm')
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', tonumber(lease[1] or 0) + 1))
redis.call('PEXPIRE', KEYS[1], 7 * 86400000)
return approvals
