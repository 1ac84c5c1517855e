//! Networks that are well and look odd: nothing of them may be called broken or degraded.

use super::topology::{Spec, Topology};

const fn well(name: &'static str, topology: Topology, steps: &'static str) -> Spec {
    Spec { name, topology, truth: &[], steps, to: ("{b}", 80), hidden: &[], stops: false }
}

/// Every look-alike.
pub const HEALTHY: &[Spec] = &[
    well("lan", Topology::Lan, ""),
    well("router", Topology::Router, ""),
    well("nat", Topology::Nat, ""),
    well("dual", Topology::Dual, ""),
    well("clos", Topology::Clos, ""),
    well("bgp", Topology::Bgp, ""),
    well("ospf", Topology::Ospf, ""),
    well("overlay", Topology::Overlay, ""),
    well("dhcp", Topology::Dhcp, ""),
    // Ports that nobody uses, bridges without members, a device that is down on purpose and has no address.
    well(
        "unused_devices",
        Topology::Router,
        "a ip link add docker0 type bridge\na ip addr add 172.17.0.1/16 dev docker0\na ip link set docker0 up\n\
        a ip link add spare0 type veth peer name spare1\nr ip link add spare0 type veth peer name spare1",
    ),
    well(
        "same_bridge_everywhere",
        Topology::Lan,
        "a ip link add docker0 type bridge\na ip addr add 172.17.0.1/16 dev docker0\na ip link set docker0 up\n\
        b ip link add docker0 type bridge\nb ip addr add 172.17.0.1/16 dev docker0\nb ip link set docker0 up",
    ),
    // A card that went away and came back long ago.
    well(
        "carrier_history",
        Topology::Lan,
        "sw ip link set pc down\nsw ip link set pc up\nsw ip link set pc down\nsw ip link set pc up",
    ),
    well(
        "generous_limit",
        Topology::Router,
        "r tc qdisc add dev eth1 root tbf rate 1gbit burst 256kb limit 1mb",
    ),
    well("netem_without_figures", Topology::Router, "r tc qdisc add dev eth1 root netem limit 10000"),
    well("netem_on_loopback", Topology::Router, "a tc qdisc add dev lo root netem delay 50ms loss 10%"),
    well(
        "load_balancer",
        Topology::Router,
        "b nft < table ip {tlb} { chain {kp} { type nat hook prerouting priority -100; tcp dport 8080 dnat to numgen inc mod 2 map { 0 : {b}, 1 : {b} }; }; }",
    ),
    well(
        "statistic_mark",
        Topology::Router,
        "r iptables -t mangle -A PREROUTING -m statistic --mode random --probability 0.5 -j MARK --set-mark 1",
    ),
    well(
        "logging_limit",
        Topology::Router,
        "r nft < table inet {tl} { chain {kf} { type filter hook forward priority 0; limit rate 5/second counter; accept; }; }",
    ),
    well(
        "blackhole_of_an_aggregate",
        Topology::Clos,
        "s1 ip route add blackhole {n}.0.0/16\ns2 ip route add blackhole {n}.0.0/16",
    ),
    well(
        "banned_elsewhere",
        Topology::Router,
        "b ip route add unreachable 192.0.2.66\nb iptables -A INPUT -s 192.0.2.66 -j DROP",
    ),
    well(
        "strict_and_symmetric",
        Topology::Router,
        "b sysctl -qw net.ipv4.conf.eth0.rp_filter=1\na sysctl -qw net.ipv4.conf.eth0.rp_filter=1",
    ),
    well(
        "asymmetric_and_loose",
        Topology::Dual,
        "a ip route add {n}.2.0/24 via {r2a} src {a}\nr2 ip route add {n}.2.0/24 via {b2}\nb ip route replace {n}.1.0/24 via {r1b}",
    ),
    well(
        "many_rules",
        Topology::Dual,
        "a ip rule add from {a2} lookup 100 pref 100\na ip route add default via {r2a} table 100\na ip rule add fwmark 7 lookup 200 pref 90",
    ),
    well(
        "weighted_paths",
        Topology::Clos,
        "l1 ip route replace {n}.12.0/24 nexthop via {s1l1} weight 3 nexthop via {s2l1} weight 1",
    ),
    well(
        "firewall_that_lets_it_in",
        Topology::Router,
        "b iptables -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT\nb iptables -A INPUT -p tcp --dport 80 -j ACCEPT\n\
        b iptables -A INPUT -p icmp -j ACCEPT\nb iptables -P INPUT DROP",
    ),
    well(
        "stateful_router",
        Topology::Router,
        "r nft < table inet {tt} { chain {kf} { type filter hook forward priority 0; policy drop; ct state established,related accept; ip saddr {a} accept; }; }",
    ),
    well(
        "arp_hygiene",
        Topology::Lan,
        "a nft < table arp {tt} { chain {ki} { type filter hook input priority 0; arp daddr ip != {a} drop; }; }",
    ),
    well(
        "permanent_and_right",
        Topology::Lan,
        "a ip neigh replace {b} lladdr {mac:b:eth0} dev eth0 nud permanent",
    ),
    well("same_mtu_jumbo", Topology::Router, "a ip link set eth0 mtu 9000\nr ip link set eth0 mtu 9000"),
    well("isolated_elsewhere", Topology::Lan, "sw ip link set pc type bridge_slave isolated on"),
    well(
        "anycast_on_lo",
        Topology::Lan,
        "a ip addr add 10.255.0.1/32 dev lo\nb ip addr add 10.255.0.1/32 dev lo",
    ),
    well(
        "flat_and_wide",
        Topology::Lan,
        "a ip -4 addr flush dev eth0\na ip addr add {a}/{l} dev eth0\na ip route replace default via {c}",
    ),
    well("ipv6_off_where_nobody_uses_it", Topology::Router, "b sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1"),
    well("empty_hosts_line", Topology::Lan, "a @hosts {b} web.lab"),
    well("busy_and_well", Topology::Lan, "a @hold {b} 9001 30"),
    well("loopback_service", Topology::Router, "b @tcp 127.0.0.1 5432"),
    well(
        "translation_with_room",
        Topology::Nat,
        "r nft flush chain ip nat post\nr nft add rule ip nat post oifname eth1 ip protocol tcp snat to {rb}:20000-60000\na @hold {b} 9001 5",
    ),
    well("large_buffers", Topology::Router, "b sysctl -qw net.ipv4.tcp_rmem=4096~131072~6291456"),
    well(
        "bgp_limit_far_away",
        Topology::Bgp,
        "s1 @set router~bgp~65100 address-family~ipv4~unicast neighbor~{l1s1}~maximum-prefix~1000",
    ),
    well(
        "bgp_anycast",
        Topology::Bgp,
        "l1 ip addr add 10.255.0.1/32 dev lo\nl2 ip addr add 10.255.0.1/32 dev lo\n\
         l1 @set router~bgp~65001 address-family~ipv4~unicast network~10.255.0.1/32\nl2 @set router~bgp~65002 address-family~ipv4~unicast network~10.255.0.1/32\n\
         s1 @sees 10.255.0.1 2",
    ),
    well(
        "bgp_more_specific_of_its_own",
        Topology::Bgp,
        "l2 ip route add {b}/32 dev host\nl2 @set router~bgp~65002 address-family~ipv4~unicast network~{b}/32\nl1 @sees {b} 2",
    ),
    well(
        "bgp_network_that_nobody_needs",
        Topology::Bgp,
        "l2 ip link add mgmt type veth peer name mgmt1\nl2 ip addr add 10.241.0.1/24 dev mgmt\nl2 ip link set mgmt up\nl2 ip link set mgmt1 up",
    ),
    well(
        "bgp_victim_thrown_away",
        Topology::Bgp,
        "l2 @set route-map~VICTIM~permit~10 set~community~blackhole exit router~bgp~65002 no~bgp~network~import-check \
         address-family~ipv4~unicast network~10.242.6.6/32~route-map~VICTIM\ns1 @sees 10.242.6.6 1",
    ),
    well(
        "ospf_slow_at_both_ends",
        Topology::Ospf,
        "l1 @set interface~s1 ip~ospf~hello-interval~2 ip~ospf~dead-interval~8\ns1 @set interface~l1 ip~ospf~hello-interval~2 ip~ospf~dead-interval~8\n\
         l1 @near {s1l1} Full\ns1 @near {l1s1} Full",
    ),
    well(
        "ospf_passive_on_purpose",
        Topology::Ospf,
        "l1 @set interface~s2 ip~ospf~passive\nl1 @near {s2l1} -\ns2 @near {l1s2} -\nl1 @sees {n}.12.0/24 1",
    ),
    well(
        "ospf_network_that_nobody_needs",
        Topology::Ospf,
        "l2 ip link add mgmt type veth peer name mgmt1\nl2 ip addr add 10.241.0.1/24 dev mgmt\nl2 ip link set mgmt up\nl2 ip link set mgmt1 up",
    ),
    // Set by hand, beside a server that works.
    well(
        "dhcp_set_by_hand",
        Topology::Dhcp,
        "a @off\na ip -4 addr flush dev eth0\na ip addr add {n}.1.{h}/{l} dev eth0\na ip route add default via {ra}",
    ),
    well(
        "dhcp_two_that_share",
        Topology::Dhcp,
        "c @dhcp {n}.1.{w} {n}.1.{x} router={ra} dns={c}\na @forget eth0\na @leased eth0",
    ),
    well(
        "dhcp_nearly_full",
        Topology::Dhcp,
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{v} router={ra} dns={c} taken={n}.1.{u}-{n}.1.{s}\na @forget eth0\na @leased eth0",
    ),
    well(
        "dhcp_full_and_served",
        Topology::Dhcp,
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{u} router={ra} dns={c}\na @forget eth0\na @leased eth0",
    ),
    well("dhcp_of_another_subnet", Topology::Dhcp, "b @dhcp {m}.9.100 {m}.9.120 router={rb} dns={c}"),
    well(
        "dhcp_of_another_subnet_beside",
        Topology::Dhcp,
        "c @dhcp {m}.9.100 {m}.9.120 router={rb} dns={c}\na @forget eth0\na @leased eth0",
    ),
    well(
        "dhcp_server_that_moved",
        Topology::Dhcp,
        "d @off\nc @dhcp {n}.1.{w} {n}.1.{x} router={ra} dns={c}\na @forget eth0\na @leased eth0",
    ),
    well(
        "routes_that_are_not_taken",
        Topology::Router,
        "a ip route add 203.0.113.0/24 via {ra}\na ip route add throw 198.18.0.0/15",
    ),
];
