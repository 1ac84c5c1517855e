//! The lines that wire machines to the fabric, for `ip -batch`.
//!
//! No machine shares a wire with another: everything that leaves one crosses the fabric, also to its own subnet, and the fabric
//! answers for every address, as the platform does.

use std::net::IpAddr;

use ipnet::IpNet;

use super::plan::{Link, Plan};
use super::routes::{BEYOND, OUT, VOID};

/// The hardware address that a machine sees for everybody else, as on the platform.
const GATEWAY: &str = "12:34:56:78:9a:bc";
/// The platform's gateway for IPv6.
const GATEWAY_SIX: &str = "fe80::1234:5678:9abc";
/// The hardware address of everybody beyond the gateway.
const BEYOND_MAC: &str = "12:34:56:78:9a:bd";
/// The address of the wire server, and of the platform's name server.
pub(super) const WIRE_SERVER: &str = "168.63.129.16";
/// The address from which machines without a public one are seen.
pub(super) const SHARED: &str = "20.0.0.4";
/// The routing table for answers to inbound traffic.
const BACK: u32 = 200;
/// Wires of the fabric carry whatever a machine sends; the path says what is too large.
const FABRIC_MTU: u32 = 9_216;
/// The largest packet of a path, unless somebody says otherwise.
pub(super) const DEFAULT_PATH_MTU: u32 = 1_500;

/// What the kernel has to know about the fabric before anything is wired to it.
pub(super) const FABRIC: [&str; 11] = [
    "net.ipv4.ip_forward=1",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv4.conf.all.proxy_arp=1",
    "net.ipv4.conf.all.send_redirects=0",
    "net.ipv4.conf.default.send_redirects=0",
    "net.ipv4.icmp_ratelimit=0",
    "net.ipv6.icmp.ratelimit=0",
    "net.ipv6.conf.all.proxy_ndp=1",
    "net.netfilter.nf_conntrack_tcp_be_liberal=1",
];

/// Wires the fabric itself: the wire server, the blackhole, the gateway.
pub(super) fn fabric(internet: &str) -> String {
    format!(
        "link set lo up\n\
         addr add {WIRE_SERVER}/32 dev lo\n\
         link add {VOID} type veth peer name nobody\n\
         link set {VOID} addrgenmode none up\n\
         link set nobody addrgenmode none up\n\
         link add {OUT} address {GATEWAY} type veth peer name eth0 address {BEYOND_MAC} netns {internet}\n\
         link set {OUT} addrgenmode none up\n\
         neigh replace {BEYOND} lladdr {BEYOND_MAC} dev {OUT} nud permanent\n"
    )
}

/// Wires what is beyond the gateway: it has every address there is, but for those of machines.
pub(super) fn internet() -> String {
    format!(
        "link set lo up\n\
         link set eth0 addrgenmode none up\n\
         rule add lookup {BACK} pref 10\n\
         rule add lookup local pref 100\n\
         rule del pref 0\n\
         route add local default dev lo table local\n"
    )
}

/// Routes these addresses from beyond the gateway.
pub(super) fn back(plan: &Plan) -> String {
    let public = plan.links.iter().filter_map(|link| link.nic.public).filter(IpAddr::is_ipv4);
    let all = public.map(|public| public.to_string()).chain([SHARED.to_owned()]);
    let lines = |address| {
        format!(
            "route replace {address}/32 dev eth0 table {BACK}\n\
             neigh replace {address} lladdr {GATEWAY} dev eth0 nud permanent\n"
        )
    };
    all.map(lines).collect()
}

/// Makes the wire of an interface, seen from the fabric.
pub(super) fn outer(link: &Link, space: &str) -> String {
    let Link { device, inner, nic, .. } = link;
    let own = if is_mac(&nic.mac) { format!("address {} ", nic.mac) } else { String::new() };
    let mut text = format!(
        "link add {device} mtu {FABRIC_MTU} address {GATEWAY} type veth peer name {inner} mtu {DEFAULT_PATH_MTU} {own}netns {space}\n\
         link set {device} addrgenmode none up\n\
         -6 addr add {GATEWAY_SIX}/64 dev {device} nodad\n"
    );
    for (address, _) in nic.addresses.iter().filter(|_| is_mac(&nic.mac)) {
        let family = if address.is_ipv6() { "-6 " } else { "" };
        text.push_str(&format!(
            "{family}neigh replace {address} lladdr {} dev {device} nud permanent\n",
            nic.mac
        ));
    }
    text
}

/// What the kernel has to know about a wire: the fabric answers for others at once.
pub(super) fn prompt(link: &Link) -> [String; 2] {
    ["ipv4", "ipv6"].map(|family| format!("net.{family}.neigh.{}.proxy_delay=0", link.device))
}

/// Brings up an interface inside its machine.
pub(super) fn inner(link: &Link) -> String {
    let Link { inner, nic, .. } = link;
    let mut text = format!("link set lo up\nlink set {inner} addrgenmode none up\n");
    for (address, length) in &nic.addresses {
        let Ok(net) = IpNet::new(*address, *length) else { continue };
        match address {
            IpAddr::V4(_) => text.push_str(&format!("addr add {net} brd + dev {inner}\n")),
            IpAddr::V6(_) => text.push_str(&format!("-6 addr add {net} dev {inner} nodad\n")),
        }
    }
    if inner != "eth0" {
        return text;
    }
    let four = nic.addresses.iter().find(|(address, _)| address.is_ipv4());
    if let Some(gateway) = four.and_then(|(address, length)| first(*address, *length)) {
        text.push_str(&format!("route add default via {gateway} dev {inner} onlink\n"));
    }
    if nic.addresses.iter().any(|(address, _)| address.is_ipv6()) {
        text.push_str(&format!(
            "-6 neigh replace {GATEWAY_SIX} lladdr {GATEWAY} dev {inner} nud permanent\n\
             -6 route add default via {GATEWAY_SIX} dev {inner} onlink\n"
        ));
    }
    text
}

/// Says where all machines are, with the largest packet of the paths to them.
pub(super) fn everywhere(plan: &Plan, path: u32) -> String {
    let mut text = format!("route add default dev {VOID}\n-6 route add default dev {VOID}\n");
    for link in &plan.links {
        for (address, _) in &link.nic.addresses {
            let device = &link.device;
            match address {
                IpAddr::V4(_) => {
                    text.push_str(&format!("route replace {address}/32 dev {device} mtu lock {path}\n"))
                }
                IpAddr::V6(_) => {
                    text.push_str(&format!("-6 route replace {address}/128 dev {device} mtu lock {path}\n"));
                    // Neighbors are asked for by name: every wire answers for everybody who is not on it.
                    for other in plan.links.iter().filter(|other| other.number != link.number) {
                        text.push_str(&format!("-6 neigh replace proxy {address} dev {}\n", other.device));
                    }
                }
            }
        }
    }
    text
}

/// Returns the first address of a subnet, which is its gateway on the platform.
fn first(address: IpAddr, length: u8) -> Option<IpAddr> {
    IpNet::new(address, length).ok()?.hosts().next().filter(|first| *first != address)
}

/// Tells whether a text is a hardware address, and nothing that `ip` would take for a word of its own.
fn is_mac(text: &str) -> bool {
    let mut pairs = text.split(':');
    let fits = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    pairs.clone().count() == 6 && pairs.all(fits)
}
