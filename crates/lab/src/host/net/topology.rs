//! The networks: machines, cables between them, and what they need to be well.

use ghost_inspect::host::Fault;

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topology {
    /// A switch and three machines: `a` calls `b`, `c` serves names.
    Lan,
    /// `a` and `b` on two segments, a router between them.
    Router,
    /// A private `a`, a translating router, a public `b`.
    Nat,
    /// `a` and `b` with two cards each, a router for each pair.
    Dual,
    /// `a` and `b` behind two leaves and two spines, every path twice.
    Clos,
    /// The same, and the routers learn by BGP where to: a system of its own for each leaf, one for both spines.
    Bgp,
    /// The same with OSPF, in one area.
    Ospf,
    /// A tunnel between `a` and `b` over a router.
    Overlay,
    /// A switch on which `a` gets its address from `d`, `c` serves names, and a router leads to `b`.
    Dhcp,
}

/// A fault as it is put into a network, or a look-alike.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name: that of the benchmark NIKA where it has one, else one of our own.
    pub name: &'static str,
    /// The network.
    pub topology: Topology,
    /// What is right to say: fault and object. A look-alike has none.
    pub truth: &'static [(Fault, &'static str)],
    /// What is done, a line a step.
    pub steps: &'static str,
    /// Who is called, and on which port.
    pub to: (&'static str, u16),
    /// Machines that are not gathered: they belong to somebody else.
    pub hidden: &'static [&'static str],
    /// Nothing behind it on the path is seen any more.
    pub stops: bool,
}

/// A cable: machine, device and address of both ends; `-` is none.
pub(super) type Cable = [&'static str; 6];

/// What a network consists of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) machines: &'static [&'static str],
    /// Addresses by the names that steps use.
    pub(super) names: &'static [(&'static str, &'static str)],
    pub(super) cables: &'static [Cable],
    /// What is done then, a line a step.
    pub(super) steps: &'static str,
}

/// Two machines behind two leaves and two spines, without what tells the routers where to.
const FABRIC: Plan = Plan {
    machines: &["a", "b", "l1", "l2", "s1", "s2"],
    names: &[
        ("a", "{n}.11.{h}"),
        ("b", "{n}.12.{i}"),
        ("ga", "{n}.11.1"),
        ("gb", "{n}.12.1"),
        ("l1s1", "{m}.11.0"),
        ("s1l1", "{m}.11.1"),
        ("l1s2", "{m}.12.0"),
        ("s2l1", "{m}.12.1"),
        ("l2s1", "{m}.21.0"),
        ("s1l2", "{m}.21.1"),
        ("l2s2", "{m}.22.0"),
        ("s2l2", "{m}.22.1"),
    ],
    cables: &[
        ["a", "eth0", "{a}/24", "l1", "host", "{ga}/24"],
        ["b", "eth0", "{b}/24", "l2", "host", "{gb}/24"],
        ["l1", "s1", "{l1s1}/31", "s1", "l1", "{s1l1}/31"],
        ["l1", "s2", "{l1s2}/31", "s2", "l1", "{s2l1}/31"],
        ["l2", "s1", "{l2s1}/31", "s1", "l2", "{s1l2}/31"],
        ["l2", "s2", "{l2s2}/31", "s2", "l2", "{s2l2}/31"],
    ],
    steps: "",
};

impl Topology {
    /// Every network.
    pub const ALL: [Self; 9] = [
        Self::Lan,
        Self::Router,
        Self::Nat,
        Self::Dual,
        Self::Clos,
        Self::Bgp,
        Self::Ospf,
        Self::Overlay,
        Self::Dhcp,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lan => "lan",
            Self::Router => "router",
            Self::Nat => "nat",
            Self::Dual => "dual",
            Self::Clos => "clos",
            Self::Bgp => "bgp",
            Self::Ospf => "ospf",
            Self::Overlay => "overlay",
            Self::Dhcp => "dhcp",
        }
    }

    /// Finds one by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topology| topology.as_str() == name)
    }

    pub(super) const fn plan(self) -> Plan {
        match self {
            Self::Lan => Plan {
                machines: &["a", "b", "c", "sw", "hold"],
                names: &[("a", "{n}.1.{h}"), ("b", "{n}.1.{i}"), ("c", "{n}.1.{j}"), ("none", "{n}.1.125")],
                cables: &[
                    ["a", "eth0", "{a}/{l}", "sw", "pa", "-"],
                    ["b", "eth0", "{b}/{l}", "sw", "pb", "-"],
                    ["c", "eth0", "{c}/{l}", "sw", "pc", "-"],
                ],
                steps: "sw ip link add br0 type bridge\nsw ip link set br0 up\nsw ip link set pa master br0\nsw ip link set pb master br0\n\
                    sw ip link set pc master br0\na ip addr add fd00:91::a/64 dev eth0 nodad\nb ip addr add fd00:91::b/64 dev eth0 nodad\n\
                    b @web 80\nb @tcp * 9001\nc @dns {b} {c}\na @resolv {c}\nb @resolv {c}\nc @resolv {c}",
            },
            Self::Router => Plan {
                machines: &["a", "r", "b"],
                names: &[
                    ("a", "{n}.1.{h}"),
                    ("b", "{n}.2.{i}"),
                    ("ra", "{n}.1.1"),
                    ("rb", "{n}.2.1"),
                    ("none", "{n}.1.125"),
                ],
                cables: &[
                    ["a", "eth0", "{a}/{l}", "r", "eth0", "{ra}/{l}"],
                    ["b", "eth0", "{b}/{l}", "r", "eth1", "{rb}/{l}"],
                ],
                steps: "r sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ra}\nb ip route add default via {rb}\nb @web 80\nb @tcp * 9001",
            },
            Self::Nat => Plan {
                machines: &["a", "r", "b"],
                names: &[
                    ("a", "{n}.1.{h}"),
                    ("b", "198.51.100.{i}"),
                    ("ra", "{n}.1.1"),
                    ("rb", "198.51.100.1"),
                ],
                cables: &[
                    ["a", "eth0", "{a}/{l}", "r", "eth0", "{ra}/{l}"],
                    ["b", "eth0", "{b}/24", "r", "eth1", "{rb}/24"],
                ],
                steps: "r sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ra}\nb @web 80\nb @tcp * 9001\n\
                    r nft < table ip nat { chain post { type nat hook postrouting priority 100; oifname \"eth1\" masquerade; }; }",
            },
            Self::Dual => Plan {
                machines: &["a", "r1", "r2", "b"],
                names: &[
                    ("a", "{n}.1.{h}"),
                    ("a2", "{n}.3.{h}"),
                    ("b", "{n}.2.{i}"),
                    ("b2", "{n}.4.{i}"),
                    ("r1a", "{n}.1.1"),
                    ("r1b", "{n}.2.1"),
                    ("r2a", "{n}.3.1"),
                    ("r2b", "{n}.4.1"),
                ],
                cables: &[
                    ["a", "eth0", "{a}/24", "r1", "eth0", "{r1a}/24"],
                    ["a", "eth1", "{a2}/24", "r2", "eth0", "{r2a}/24"],
                    ["b", "eth0", "{b}/24", "r1", "eth1", "{r1b}/24"],
                    ["b", "eth1", "{b2}/24", "r2", "eth1", "{r2b}/24"],
                ],
                steps: "r1 sysctl -qw net.ipv4.ip_forward=1\nr2 sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {r1a}\n\
                    b ip route add {n}.1.0/24 via {r1b}\nb ip route add {n}.3.0/24 via {r2b}\nb @web 80\nb @tcp * 9001\n\
                    a sysctl -qw net.ipv4.conf.all.rp_filter=0\na sysctl -qw net.ipv4.conf.eth0.rp_filter=0\na sysctl -qw net.ipv4.conf.eth1.rp_filter=0\n\
                    b sysctl -qw net.ipv4.conf.all.rp_filter=0\nb sysctl -qw net.ipv4.conf.eth0.rp_filter=0\nb sysctl -qw net.ipv4.conf.eth1.rp_filter=0",
            },
            Self::Clos => Plan {
                steps: "l1 sysctl -qw net.ipv4.ip_forward=1\nl2 sysctl -qw net.ipv4.ip_forward=1\ns1 sysctl -qw net.ipv4.ip_forward=1\n\
                    s2 sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ga}\nb ip route add default via {gb}\n\
                    l1 ip route add {n}.12.0/24 nexthop via {s1l1} nexthop via {s2l1}\nl2 ip route add {n}.11.0/24 nexthop via {s1l2} nexthop via {s2l2}\n\
                    s1 ip route add {n}.11.0/24 via {l1s1}\ns1 ip route add {n}.12.0/24 via {l2s1}\n\
                    s2 ip route add {n}.11.0/24 via {l1s2}\ns2 ip route add {n}.12.0/24 via {l2s2}\nb @web 80\nb @tcp * 9001",
                ..FABRIC
            },
            Self::Bgp => Plan {
                steps: "l1 sysctl -qw net.ipv4.ip_forward=1\nl2 sysctl -qw net.ipv4.ip_forward=1\ns1 sysctl -qw net.ipv4.ip_forward=1\n\
                    s2 sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ga}\nb ip route add default via {gb}\nb @web 80\nb @tcp * 9001\n\
                    s1 @bgp 65100 - {l1s1}=65001 {l2s1}=65002\ns2 @bgp 65100 - {l1s2}=65001 {l2s2}=65002\n\
                    l1 @bgp 65001 {n}.11.0/24 {s1l1}=65100 {s2l1}=65100\nl2 @bgp 65002 {n}.12.0/24 {s1l2}=65100 {s2l2}=65100\n\
                    l1 @sees {n}.12.0/24 2\nl2 @sees {n}.11.0/24 2",
                ..FABRIC
            },
            Self::Ospf => Plan {
                steps: "l1 sysctl -qw net.ipv4.ip_forward=1\nl2 sysctl -qw net.ipv4.ip_forward=1\ns1 sysctl -qw net.ipv4.ip_forward=1\n\
                    s2 sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ga}\nb ip route add default via {gb}\nb @web 80\nb @tcp * 9001\n\
                    s1 @ospf {m}.0.0/16 l1 l2\ns2 @ospf {m}.0.0/16 l1 l2\nl1 @ospf {m}.0.0/16,{n}.11.0/24 s1 s2\nl2 @ospf {m}.0.0/16,{n}.12.0/24 s1 s2\n\
                    l1 @sees {n}.12.0/24 2\nl2 @sees {n}.11.0/24 2\ns1 @sees {n}.11.0/24 1\ns1 @sees {n}.12.0/24 1\ns2 @sees {n}.11.0/24 1\ns2 @sees {n}.12.0/24 1",
                ..FABRIC
            },
            Self::Dhcp => Plan {
                machines: &["a", "c", "d", "r", "b", "sw"],
                names: &[
                    ("b", "{n}.2.{h}"),
                    ("c", "{n}.1.{j}"),
                    ("d", "{n}.1.{i}"),
                    ("ra", "{n}.1.1"),
                    ("rb", "{n}.2.1"),
                    ("none", "{n}.1.125"),
                ],
                cables: &[
                    ["a", "eth0", "-", "sw", "pa", "-"],
                    ["c", "eth0", "{c}/{l}", "sw", "pc", "-"],
                    ["d", "eth0", "{d}/{l}", "sw", "pd", "-"],
                    ["r", "eth0", "{ra}/{l}", "sw", "pr", "-"],
                    ["b", "eth0", "{b}/{l}", "r", "eth1", "{rb}/{l}"],
                ],
                // The server answers late: whoever else serves is first.
                steps: "sw ip link add br0 type bridge\nsw ip link set br0 up\nsw ip link set pa master br0\nsw ip link set pc master br0\n\
                    sw ip link set pd master br0\nsw ip link set pr master br0\nr sysctl -qw net.ipv4.ip_forward=1\nb ip route add default via {rb}\n\
                    c ip route add default via {ra}\nd ip route add default via {ra}\nc @dns {b} {c}\nc @resolv {c}\nd @resolv {c}\n\
                    d @dhcp {n}.1.{u} {n}.1.{v} router={ra} dns={c} late\na @leased eth0\nb @web 80\nb @tcp * 9001",
            },
            Self::Overlay => Plan {
                machines: &["a", "r", "b"],
                names: &[
                    ("a", "{m}.97.1"),
                    ("b", "{m}.97.2"),
                    ("ua", "{n}.1.{h}"),
                    ("ub", "{n}.2.{i}"),
                    ("ra", "{n}.1.1"),
                    ("rb", "{n}.2.1"),
                ],
                cables: &[
                    ["a", "eth0", "{ua}/24", "r", "eth0", "{ra}/24"],
                    ["b", "eth0", "{ub}/24", "r", "eth1", "{rb}/24"],
                ],
                steps: "r sysctl -qw net.ipv4.ip_forward=1\na ip route add default via {ra}\nb ip route add default via {rb}\n\
                    a ip link add vx0 type vxlan id 42 remote {ub} dstport 4789 dev eth0\nb ip link add vx0 address 02:00:00:00:97:02 type vxlan id 42 remote {ua} dstport 4789 dev eth0\n\
                    a ip addr add {a}/24 dev vx0\nb ip addr add {b}/24 dev vx0\na ip link set vx0 up\nb ip link set vx0 up\nb @web 80\nb @tcp * 9001",
            },
        }
    }
}
