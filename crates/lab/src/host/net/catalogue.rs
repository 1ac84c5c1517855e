//! Faults, and how they are put into a network.

use super::topology::{Spec, Topology};
use ghost_inspect::host::Fault;

/// A fault that stops the flow where it is.
const fn stops(
    name: &'static str,
    topology: Topology,
    truth: &'static [(Fault, &'static str)],
    steps: &'static str,
) -> Spec {
    Spec { name, topology, truth, steps, to: ("{b}", 80), hidden: &[], stops: true }
}

/// A fault that lets the flow pass.
const fn beside(
    name: &'static str,
    topology: Topology,
    truth: &'static [(Fault, &'static str)],
    steps: &'static str,
) -> Spec {
    Spec { stops: false, ..stops(name, topology, truth, steps) }
}

/// Every fault of the catalogue that this kernel can have.
pub const FAULTS: &[Spec] = &[
    // Links.
    stops(
        "link_detach",
        Topology::Lan,
        &[(Fault::LinkMissing, "link/a/eth0")],
        "a ip link set eth0 netns {ns:hold}",
    ),
    stops("link_down", Topology::Lan, &[(Fault::LinkDown, "link/b/eth0")], "b ip link set eth0 down"),
    stops("link_down_switch", Topology::Lan, &[(Fault::LinkDown, "link/sw/pb")], "sw ip link set pb down"),
    stops(
        "link_down_router",
        Topology::Router,
        &[(Fault::LinkDown, "link/r/eth1")],
        "r ip link set eth1 down",
    ),
    stops(
        "link_down_caller",
        Topology::Router,
        &[(Fault::LinkDown, "link/a/eth0")],
        "a ip link set eth0 down",
    ),
    beside("link_flap", Topology::Lan, &[(Fault::LinkFlap, "link/c/eth0")], "sw @flap pc"),
    beside(
        "link_capacity_bottleneck",
        Topology::Router,
        &[(Fault::RateLimit, "qdisc/r/eth1")],
        "r tc qdisc add dev eth1 root tbf rate 200kbit burst 4kb limit 8kb\na @send {b} 9",
    ),
    beside(
        "link_capacity_class",
        Topology::Router,
        &[(Fault::RateLimit, "qdisc/r/eth1")],
        "r tc qdisc add dev eth1 root handle 1: htb default 10\nr tc class add dev eth1 parent 1: classid 1:10 htb rate 200kbit ceil 200kbit\n\
         r tc qdisc add dev eth1 parent 1:10 handle 10: pfifo limit 5\na @send {b} 9",
    ),
    beside(
        "link_packet_corruption",
        Topology::Router,
        &[(Fault::PayloadRewrite, "netfilter/r/netdev:{tz}/{ke}")],
        "r nft < table netdev {tz} { chain {ke} { type filter hook egress device eth1 priority 0; udp dport 9 numgen random mod 100 < 8 @th,512,8 set 0xff; }; }",
    ),
    Spec {
        hidden: &["r"],
        ..beside(
            "link_packet_corruption_elsewhere",
            Topology::Router,
            &[(Fault::ChecksumErrors, "host/b")],
            "a ethtool -K eth0 tx off\nb ethtool -K eth0 tx off\n\
             r nft < table netdev {tz} { chain {ke} { type filter hook egress device eth1 priority 0; udp dport 9 @th,512,8 set 0xff; }; }\na @send {b} 9",
        )
    },
    beside(
        "silent_egress_packet_loss",
        Topology::Router,
        &[(Fault::RandomDrop, "netfilter/r/netdev:{tz}/{ke}")],
        "r nft < table netdev {tz} { chain {ke} { type filter hook egress device eth1 priority 0; numgen random mod 1000 < 20 drop; }; }",
    ),
    beside(
        "silent_packet_loss_iptables",
        Topology::Router,
        &[(Fault::RandomDrop, "netfilter/r/filter/FORWARD")],
        "r iptables -A FORWARD -m statistic --mode random --probability 0.02 -j DROP",
    ),
    // Where this kernel has netem: these are skipped, and counted apart, where it has none.
    beside(
        "netem_loss",
        Topology::Router,
        &[(Fault::NetemLoss, "qdisc/r/eth1")],
        "r tc qdisc add dev eth1 root netem loss 20%",
    ),
    beside(
        "netem_delay",
        Topology::Router,
        &[(Fault::NetemDelay, "qdisc/b/eth0")],
        "b tc qdisc add dev eth0 root netem delay 120ms 20ms",
    ),
    beside(
        "netem_corrupt",
        Topology::Router,
        &[(Fault::NetemCorrupt, "qdisc/r/eth1")],
        "r tc qdisc add dev eth1 root netem corrupt 5%",
    ),
    beside(
        "netem_duplicate",
        Topology::Lan,
        &[(Fault::NetemDuplicate, "qdisc/a/eth0")],
        "a tc qdisc add dev eth0 root netem duplicate 30%",
    ),
    beside(
        "netem_reorder",
        Topology::Router,
        &[(Fault::NetemReorder, "qdisc/a/eth0"), (Fault::NetemDelay, "qdisc/a/eth0")],
        "a tc qdisc add dev eth0 root netem delay 20ms reorder 25% 50%",
    ),
    // Addresses and neighbors.
    stops(
        "host_missing_ip",
        Topology::Lan,
        &[(Fault::AddressMissing, "address/a/eth0")],
        "a ip -4 addr flush dev eth0",
    ),
    stops(
        "host_missing_ip_server",
        Topology::Lan,
        &[(Fault::AddressMissing, "address/b/eth0")],
        "b ip -4 addr flush dev eth0",
    ),
    stops(
        "host_incorrect_ip",
        Topology::Lan,
        &[(Fault::WrongAddress, "address/b/eth0")],
        "b ip -4 addr flush dev eth0\nb ip addr add {n}.7.{i}/24 dev eth0",
    ),
    stops(
        "host_incorrect_netmask",
        Topology::Router,
        &[(Fault::WrongNetmask, "address/a/eth0")],
        "a ip addr flush dev eth0\na ip addr add {a}/8 dev eth0\na ip route add default via {ra}",
    ),
    stops(
        "host_incorrect_gateway",
        Topology::Router,
        &[(Fault::WrongGateway, "route/a/default")],
        "a ip route replace default via {none}",
    ),
    Spec {
        hidden: &["r"],
        ..stops(
            "gateway_dead",
            Topology::Router,
            &[(Fault::GatewayDead, "route/a/default")],
            // As it is some time later: a neighbor that answered counts as there for half a minute.
            "r ip addr flush dev eth0\na ip neigh flush all",
        )
    },
    beside(
        "host_ip_conflict",
        Topology::Lan,
        &[(Fault::DuplicateAddress, "host/{c}")],
        "b ip addr add {c}/{l} dev eth0",
    ),
    stops(
        "arp_acl_block",
        Topology::Lan,
        &[(Fault::ArpDrop, "netfilter/a/arp:{tt}/{ko}")],
        "a nft < table arp {tt} { chain {ko} { type filter hook output priority 0; drop; }; }\na ip neigh flush all",
    ),
    stops(
        "arp_cache_poisoning",
        Topology::Lan,
        &[(Fault::NeighborPoisoned, "neighbour/a/{b}")],
        "a ip neigh replace {b} lladdr {card} dev eth0 nud permanent",
    ),
    // Routes, rules, forwarding.
    stops(
        "no_default_route",
        Topology::Router,
        &[(Fault::NoDefaultRoute, "route/a/default")],
        "a ip route del default",
    ),
    stops(
        "missing_return_route",
        Topology::Router,
        &[(Fault::NoReturnRoute, "route/b/default")],
        "b ip route del default",
    ),
    stops(
        "missing_return_route_leaf",
        Topology::Clos,
        &[(Fault::NoReturnRoute, "route/b/default")],
        "b ip route del default",
    ),
    stops(
        "host_static_blackhole",
        Topology::Router,
        &[(Fault::StaticBlackhole, "route/a/{b}/32")],
        "a ip route add blackhole {b}/32",
    ),
    stops(
        "router_static_blackhole",
        Topology::Nat,
        &[(Fault::StaticBlackhole, "route/r/{b}/32")],
        "r ip route add unreachable {b}/32",
    ),
    stops(
        "container_overlap",
        Topology::Router,
        &[(Fault::ContainerOverlap, "route/a/{n}.2.0/24")],
        "a ip link add {bridge} type bridge\na ip addr add {n}.2.1/24 dev {bridge}\na ip link set {bridge} up",
    ),
    stops(
        "ip_forward_off",
        Topology::Router,
        &[(Fault::IpForwardOff, "sysctl/r/net.ipv4.ip_forward")],
        "r sysctl -qw net.ipv4.ip_forward=0",
    ),
    stops(
        "device_forward_off",
        Topology::Router,
        &[(Fault::IpForwardOff, "sysctl/r/net.ipv4.conf.eth0.forwarding")],
        "r sysctl -qw net.ipv4.conf.eth0.forwarding=0",
    ),
    Spec {
        to: ("{b2}", 80),
        ..stops(
            "rp_filter_drop",
            Topology::Dual,
            &[(Fault::RpFilterDrop, "sysctl/b/net.ipv4.conf.eth1.rp_filter")],
            "a ip route add {b2}/32 via {r2a} src {a}\nb sysctl -qw net.ipv4.conf.eth1.rp_filter=1\na ping -c 2 -W 1 {b2} ||",
        )
    },
    stops(
        "policy_rule_misorder",
        Topology::Dual,
        &[(Fault::PolicyRule, "rule/a/40")],
        "a ip rule add to {n}.2.0/24 lookup 200 pref 40\na ip route add unreachable default table 200",
    ),
    beside(
        "ecmp_leg_dead",
        Topology::Clos,
        &[(Fault::EcmpLeg, "route/l1/{n}.12.0/24")],
        "l1 ip addr add {m}.13.0/24 dev s2\nl1 ip route replace {n}.12.0/24 nexthop via {s1l1} nexthop via {m}.13.9\nl1 ping -c 1 -W 4 {m}.13.9 ||",
    ),
    beside(
        "ecmp_leg_blackhole",
        Topology::Clos,
        &[(Fault::StaticBlackhole, "route/s2/{b}/32")],
        "s2 ip route add blackhole {b}/32",
    ),
    stops(
        "asymmetric_stateful",
        Topology::Dual,
        &[(Fault::AsymmetricPath, "flow/{a}/{b}/tcp/80")],
        "a ip route add {n}.2.0/24 via {r2a} src {a}\nr2 ip route add {n}.2.0/24 via {b2}\nb ip route replace {n}.1.0/24 via {r1b}\n\
         r1 nft < table inet {tt} { chain {kf} { type filter hook forward priority 0; policy drop; ct state established,related accept; ct state invalid counter drop; }; }",
    ),
    Spec {
        to: ("fd00:91::b", 80),
        ..stops(
            "ipv6_disabled",
            Topology::Lan,
            &[(Fault::Ipv6Disabled, "sysctl/a/net.ipv6.conf.eth0.disable_ipv6")],
            "a sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1",
        )
    },
    // Filters.
    stops(
        "http_acl_block",
        Topology::Router,
        &[(Fault::GuestFirewallDrop, "netfilter/b/filter/INPUT/tcp/80")],
        "b iptables -A INPUT -p tcp --dport 80 -j DROP",
    ),
    stops(
        "http_acl_block_router",
        Topology::Nat,
        &[(Fault::GuestFirewallDrop, "netfilter/r/inet:{tt}/{kf}/tcp/80")],
        "r nft < table inet {tt} { chain {kf} { type filter hook forward priority 0; tcp dport 80 drop; }; }",
    ),
    stops(
        "http_acl_reject",
        Topology::Lan,
        &[(Fault::GuestFirewallReject, "netfilter/b/inet:{tt}/{ki}/tcp/80")],
        "b nft < table inet {tt} { chain {ki} { type filter hook input priority 0; tcp dport 80 reject; }; }",
    ),
    stops(
        "http_acl_output",
        Topology::Clos,
        &[(Fault::GuestFirewallReject, "netfilter/a/filter/OUTPUT/tcp/80")],
        "a iptables -A OUTPUT -p tcp --dport 80 -j REJECT",
    ),
    stops(
        "firewall_policy_drop",
        Topology::Router,
        &[(Fault::GuestFirewallPolicyDrop, "netfilter/b/filter/INPUT")],
        "b iptables -A INPUT -p tcp --dport 22 -j ACCEPT\nb iptables -P INPUT DROP",
    ),
    beside(
        "icmp_frag_needed_filter",
        Topology::Router,
        &[(Fault::FragNeededDrop, "netfilter/r/filter/OUTPUT")],
        "r ip link set eth1 mtu 1400\nb ip link set eth0 mtu 1400\nr iptables -A OUTPUT -p icmp --icmp-type 3/4 -j DROP",
    ),
    beside(
        "mtu_mismatch",
        Topology::Lan,
        &[(Fault::MtuMismatch, "link/b/eth0")],
        "b ip link set eth0 mtu 1400",
    ),
    beside(
        "mtu_mismatch_router",
        Topology::Router,
        &[(Fault::MtuMismatch, "link/r/eth1")],
        "r ip link set eth1 mtu 1280",
    ),
    // Switches and tunnels.
    stops(
        "port_isolated",
        Topology::Lan,
        &[(Fault::BridgePort, "link/sw/pa")],
        "sw ip link set pa type bridge_slave isolated on\nsw ip link set pb type bridge_slave isolated on\na ip neigh flush all",
    ),
    beside(
        "vni_mismatch",
        Topology::Overlay,
        &[(Fault::VniMismatch, "link/a/vx0"), (Fault::VniMismatch, "link/b/vx0")],
        "b ip link del vx0\nb ip link add vx0 address 02:00:00:00:97:02 type vxlan id 43 remote {ua} dstport 4789 dev eth0\nb ip addr add {b}/24 dev vx0\nb ip link set vx0 up",
    ),
    // Routing daemons.
    stops(
        "bgp_asn_misconfig",
        Topology::Bgp,
        &[(Fault::BgpAsnMismatch, "bgp/l1/{s1l1}"), (Fault::BgpAsnMismatch, "bgp/l1/{s2l1}")],
        "l1 @off\nl1 @bgp 65999 {n}.11.0/24 {s1l1}=65100 {s2l1}=65100\ns1 @down {l1s1}\ns2 @down {l1s2}\nl1 @sees {n}.12.0/24 0",
    ),
    beside(
        "bgp_asn_misconfig_peer",
        Topology::Bgp,
        &[(Fault::BgpAsnMismatch, "bgp/s1/{l1s1}")],
        "s1 @set router~bgp~65100 neighbor~{l1s1}~remote-as~65009\nl1 @down {s1l1}",
    ),
    beside(
        "bgp_max_prefix_exceeded",
        Topology::Bgp,
        &[(Fault::BgpMaxPrefix, "bgp/s1/{l1s1}")],
        "s1 @set router~bgp~65100 address-family~ipv4~unicast neighbor~{l1s1}~maximum-prefix~2\n\
         l1 @set router~bgp~65001 no~bgp~network~import-check address-family~ipv4~unicast network~10.240.1.0/24 network~10.240.2.0/24 network~10.240.3.0/24\n\
         s1 @down {l1s1}\nl1 @down {s1l1}",
    ),
    stops(
        "bgp_missing_route_advertisement",
        Topology::Bgp,
        &[(Fault::BgpNotAnnounced, "bgp/l2/{n}.12.0/24")],
        "l2 @set router~bgp~65002 address-family~ipv4~unicast no~network~{n}.12.0/24\nl1 @sees {n}.12.0/24 0",
    ),
    stops(
        "bgp_advertisement_denied",
        Topology::Bgp,
        &[(Fault::BgpNotAnnounced, "bgp/l1/{n}.11.0/24")],
        "l1 @set ip~prefix-list~OUT~deny~any router~bgp~65001 address-family~ipv4~unicast neighbor~{s1l1}~prefix-list~OUT~out neighbor~{s2l1}~prefix-list~OUT~out\n\
         l2 @sees {n}.11.0/24 0\ns1 @sees {n}.11.0/24 0\ns2 @sees {n}.11.0/24 0",
    ),
    stops(
        "bgp_blackhole_community_leak",
        Topology::Bgp,
        &[(Fault::BgpBlackholeCommunity, "bgp/l2/{n}.12.0/24")],
        "l2 @set route-map~OUT~permit~10 set~community~blackhole exit router~bgp~65002 address-family~ipv4~unicast \
         neighbor~{s1l2}~route-map~OUT~out neighbor~{s2l2}~route-map~OUT~out\nl1 @sees {n}.12.0/24 0",
    ),
    stops(
        "bgp_hijacking",
        Topology::Bgp,
        &[(Fault::BgpHijack, "bgp/s2/{b}/32")],
        "s2 ip addr add {b}/32 dev lo\ns2 @set router~bgp~65100 address-family~ipv4~unicast network~{b}/32\nl1 @sees {b} 1",
    ),
    beside(
        "frr_service_down",
        Topology::Bgp,
        &[(Fault::RoutingDaemonDown, "service/s1/frr")],
        "s1 @off\nl1 @down {s1l1}\nl2 @down {s1l2}",
    ),
    beside(
        "bgp_acl_block",
        Topology::Bgp,
        &[(Fault::GuestFirewallDrop, "netfilter/s2/filter/INPUT/tcp/179")],
        "s2 iptables -A INPUT -s {l2s2} -p tcp --dport 179 -j DROP\ns2 iptables -A INPUT -s {l2s2} -p tcp --sport 179 -j DROP\nl2 @down {s2l2}\ns2 @down {l2s2}",
    ),
    stops(
        "ospf_area_misconfiguration",
        Topology::Ospf,
        &[(Fault::OspfAreaMismatch, "ospf/l1/s1"), (Fault::OspfAreaMismatch, "ospf/l1/s2")],
        "l1 @set router~ospf no~network~{m}.0.0/16~area~0 network~{m}.0.0/16~area~1\nl1 @sees {n}.12.0/24 0\ns1 @near {l1s1} -\ns2 @near {l1s2} -",
    ),
    stops(
        "ospf_neighbor_missing",
        Topology::Ospf,
        &[(Fault::OspfNotEnabled, "ospf/l2/s1"), (Fault::OspfNotEnabled, "ospf/l2/s2")],
        "l2 @set router~ospf no~network~{m}.0.0/16~area~0\nl1 @sees {n}.12.0/24 0\ns1 @near {l2s1} -\ns2 @near {l2s2} -",
    ),
    beside(
        "ospf_timer_mismatch",
        Topology::Ospf,
        &[(Fault::OspfTimerMismatch, "ospf/s1/l2")],
        "s1 @set interface~l2 ip~ospf~hello-interval~10 ip~ospf~dead-interval~40\nl2 @near {s1l2} -\ns1 @near {l2s1} -",
    ),
    beside(
        "ospf_mtu_mismatch",
        Topology::Ospf,
        &[(Fault::MtuMismatch, "link/l1/s1")],
        "l1 ip link set s1 mtu 1400\nl1 ip link set s1 down\nl1 ip link set s1 up\nl1 @near {s1l1} ExStart",
    ),
    beside(
        "ospf_acl_block",
        Topology::Ospf,
        &[(Fault::GuestFirewallDrop, "netfilter/s2/filter/INPUT/ospf/any")],
        "s2 iptables -A INPUT -s {l2s2} -p ospf -j DROP\ns2 @near {l2s2} -\nl2 @near {s2l2} Init",
    ),
    beside(
        "ospf_hello_block",
        Topology::Ospf,
        &[(Fault::GuestFirewallDrop, "netfilter/s2/filter/INPUT/ospf/any")],
        "s2 iptables -A INPUT -s {l2s2} -d 224.0.0.5 -p ospf -j DROP\ns2 @near {l2s2} -\nl2 @near {s2l2} Init",
    ),
    beside(
        "frr_service_down_ospf",
        Topology::Ospf,
        &[(Fault::RoutingDaemonDown, "service/s2/frr")],
        "s2 @off\nl1 @near {s2l1} -\nl2 @near {s2l2} -",
    ),
    // Names.
    beside("dns_service_down", Topology::Lan, &[(Fault::DnsFailure, "dns/{c}")], "c @off"),
    beside(
        "dns_record_error",
        Topology::Lan,
        &[(Fault::DnsWrongRecord, "dns/{c}/web.lab")],
        "c @off\nc @dns {none} {c}",
    ),
    beside("dns_lookup_latency", Topology::Lan, &[(Fault::DnsSlow, "dns/{c}")], "c @off\nc @slow {b} {c}"),
    beside(
        "host_incorrect_dns",
        Topology::Lan,
        &[(Fault::WrongResolver, "resolver/a/{none}")],
        "a @resolv {none}",
    ),
    beside("no_resolver", Topology::Lan, &[(Fault::NoResolver, "resolver/a/none")], "a @resolv -"),
    beside(
        "hosts_override",
        Topology::Lan,
        &[(Fault::HostsOverride, "resolver/a/web.lab")],
        "a @hosts {none} web.lab",
    ),
    beside(
        "dns_port_blocked",
        Topology::Lan,
        &[(Fault::GuestFirewallDrop, "netfilter/c/filter/INPUT/udp/53")],
        "c iptables -A INPUT -p udp --dport 53 ! -i lo -j DROP",
    ),
    // Addresses that are given away.
    stops(
        "dhcp_service_down",
        Topology::Dhcp,
        &[(Fault::DhcpServerDown, "dhcp/{d}")],
        "d @off\na @unleased eth0",
    ),
    Spec {
        hidden: &["d"],
        ..stops(
            "dhcp_service_down_elsewhere",
            Topology::Dhcp,
            &[(Fault::DhcpServerDown, "dhcp/{d}")],
            "d @off\na @unleased eth0",
        )
    },
    beside(
        "dhcp_service_down_while_leased",
        Topology::Dhcp,
        &[(Fault::DhcpServerDown, "dhcp/{d}")],
        "d @off",
    ),
    stops(
        "dhcp_missing_subnet",
        Topology::Dhcp,
        &[(Fault::DhcpNoRange, "dhcp/{d}/{n}.1.0/{l}")],
        "d @off\nd @dhcp {m}.9.100 {m}.9.120 router={ra} dns={c}\na @unleased eth0",
    ),
    stops(
        "dhcp_pool_exhausted",
        Topology::Dhcp,
        &[(Fault::DhcpPoolFull, "dhcp/{d}/{n}.1.0/{l}")],
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{v} router={ra} dns={c} taken={n}.1.{u}-{n}.1.{v}\na @unleased eth0",
    ),
    stops(
        "dhcp_spoofed_gateway",
        Topology::Dhcp,
        &[(Fault::DhcpWrongOption, "dhcp/{d}/router")],
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{v} router={none} dns={c}\na @leased eth0",
    ),
    beside(
        "dhcp_spoofed_dns",
        Topology::Dhcp,
        &[(Fault::DhcpWrongOption, "dhcp/{d}/dns")],
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{v} router={ra} dns={none}\na @leased eth0",
    ),
    stops(
        "dhcp_spoofed_subnet",
        Topology::Dhcp,
        &[(Fault::DhcpWrongOption, "dhcp/{d}/mask")],
        "d @off\nd @dhcp {n}.1.{u} {n}.1.{v} router={ra} dns={c} mask=255.255.255.252\na @leased eth0",
    ),
    stops(
        "rogue_dhcp",
        Topology::Dhcp,
        &[(Fault::DhcpRogue, "dhcp/{c}")],
        "c @dhcp {n}.1.{w} {n}.1.{x} router={none} dns={c}\na @forget eth0\na @leased eth0",
    ),
    beside(
        "rogue_dhcp_nobody_took",
        Topology::Dhcp,
        &[(Fault::DhcpRogue, "dhcp/{c}")],
        "c @dhcp {n}.1.{w} {n}.1.{x} router={none} dns={c}",
    ),
    stops(
        "dhcp_port_blocked",
        Topology::Dhcp,
        &[(Fault::GuestFirewallDrop, "netfilter/d/filter/INPUT/udp/67")],
        "d iptables -A INPUT -p udp --dport 67 -j DROP\na @unleased eth0",
    ),
    // Services.
    stops("service_down", Topology::Router, &[(Fault::NotListening, "service/b/tcp/80")], "b @off"),
    stops(
        "bound_to_loopback",
        Topology::Router,
        &[(Fault::BoundToLoopback, "service/b/tcp/80")],
        "b @off\nb @web 127.0.0.1 80",
    ),
    stops(
        "accept_queue_full",
        Topology::Lan,
        &[(Fault::AcceptQueueFull, "service/b/tcp/80")],
        "b @off\nb @hung 80",
    ),
    beside(
        "tcp_receive_window_limited",
        Topology::Router,
        &[(Fault::ReceiveWindow, "sysctl/b/net.ipv4.tcp_rmem")],
        "b sysctl -qw net.ipv4.tcp_rmem=4096~4096~4096",
    ),
    beside(
        "receive_buffer",
        Topology::Lan,
        &[(Fault::ReceiveBuffer, "service/b/udp/9000")],
        "b @mute 9000\na @send {b} 9000",
    ),
    beside(
        "port_range_exhausted",
        Topology::Router,
        &[(Fault::PortRangeExhausted, "sysctl/a/net.ipv4.ip_local_port_range")],
        "a sysctl -qw net.ipv4.ip_local_port_range=40000~40003\na @hold {b} 9001 4",
    ),
    beside(
        "tcp_syn_flood_attack",
        Topology::Lan,
        &[(Fault::SynFlood, "service/b/tcp/9001")],
        "b sysctl -qw net.ipv4.tcp_syncookies=0\nb sysctl -qw net.ipv4.tcp_max_syn_backlog=16\n\
         c nft < table inet {tq} { chain {ki} { type filter hook input priority 0; tcp sport 9001 drop; }; }\nc @syn {b} 9001",
    ),
    // Translation.
    stops(
        "nat_mapping_removed",
        Topology::Nat,
        &[(Fault::NatMissing, "netfilter/r/ip:nat/post")],
        "r nft flush chain ip nat post",
    ),
    stops(
        "snat_port_pool_exhaustion",
        Topology::Nat,
        &[(Fault::SnatPorts, "netfilter/r/ip:nat/post")],
        "r nft flush chain ip nat post\nr nft add rule ip nat post oifname eth1 ip protocol tcp snat to {rb}:40000-40003\na @hold {b} 9001 9",
    ),
];
