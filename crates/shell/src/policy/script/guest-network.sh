for heading in addresses routes rules queues filters; do
  echo "== $heading"
  case $heading in
    addresses) ip -j address show dev {{device}} ;;
    routes) ip -j route show table all ;;
    rules) ip -j rule show ;;
    queues) tc -s -j qdisc show dev {{device}} ;;
    filters) iptables-save -c; ip6tables-save -c; nft -j list ruleset ;;
  esac 2>&1
done
