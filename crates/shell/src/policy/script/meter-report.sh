log=/tmp/ghost-meter-{{session}}/iperf.log
for try in 1 2 3 4 5 6 7 8 9 10; do
  if tail -c +$(({{from}} + 1)) "$log" 2>/dev/null | grep -q '^\[SUM'; then break; fi
  sleep 1
done
echo "ghost-meter report {{from}} $(cat "$log" 2>/dev/null | wc -c)"
tail -c +$(({{from}} + 1)) "$log" 2>/dev/null | grep -v ' connected with ' | tail -c 3000
echo 'ghost-meter end 0'
