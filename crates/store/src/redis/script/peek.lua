-- KEYS lease, inbox. Answers whether the session wants an owner, and when to look again: when it has no owner any more, or comes up by itself.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'until', 'alarm')
local ends, alarm = held[1], held[2]
if ends and tonumber(ends) > now then return {'owned', ends} end
if ends or redis.call('LLEN', KEYS[2]) > 0 then return {'wanted', ''} end
if alarm and tonumber(alarm) <= now then return {'wanted', ''} end
return {'idle', alarm or ''}
