-- KEYS lease, inbox. Answers whether the session wants an owner, and until when it has one.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = redis.call('HGET', KEYS[1], 'until')
if ends and tonumber(ends) > now then return {'owned', ends} end
if ends or redis.call('LLEN', KEYS[2]) > 0 then return {'wanted', ''} end
return {'idle', ''}
