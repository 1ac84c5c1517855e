#!/bin/sh
# What dhclient runs when something becomes of a lease: it sets one device of one namespace and the resolver file of that namespace
# ($resolver), and nothing of the machine below.
case $reason in
  PREINIT)
    ip link set dev "$interface" up
    ;;
  BOUND | RENEW | REBIND | REBOOT)
    ip -4 addr flush dev "$interface"
    ip addr add "$new_ip_address/$new_subnet_mask" broadcast + dev "$interface" valid_lft "$new_dhcp_lease_time" preferred_lft "$new_dhcp_lease_time"
    for router in $new_routers; do
      if ip route add default via "$router" dev "$interface"; then break; fi
    done
    : >"$resolver"
    for server in $new_domain_name_servers; do echo "nameserver $server" >>"$resolver"; done
    ;;
  EXPIRE | FAIL | RELEASE | STOP)
    ip -4 addr flush dev "$interface"
    ;;
  TIMEOUT)
    # An old lease is not used where nobody confirms it.
    exit 1
    ;;
esac
exit 0
