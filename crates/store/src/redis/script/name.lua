-- KEYS claim. ARGV whether something is expected, what, value, milliseconds. Answers nothing where it is set, else whether something
-- stands there, and what.
local held = redis.call('GET', KEYS[1])
if ARGV[1] == '1' then
  if held == ARGV[2] then
    redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
    return {}
  end
elseif not held then
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
  return {}
end
if held then return {'1', held} end
return {'0', ''}
