//! What is wrong with DHCP: who does not serve, what is given away wrongly, and what only follows from it.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use super::answer::Answer;
use super::context::{Expected, Flow, Protocol};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::lease::{DhcpRange, DhcpServer, Lease};
use super::link::Address;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::rogue;
use super::walk;

pub(super) const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);
pub(super) const LIKELY: (Weight, Certainty) = (Weight::Broken, Certainty::Likely);

/// The port on which servers listen.
const PORT: u16 = 67;
/// A prefix as long as this has no room for a neighbor: clouds and links of two ends use it on purpose.
const ALONE: u8 = 31;

/// Names a server, or what it gives.
pub(super) fn object(server: IpAddr, what: Option<String>) -> Object {
    Object::Dhcp { server, what }
}

/// A range, how many of its addresses are taken, and how many it has; of named machines alone it is not said.
struct Pool<'a> {
    range: &'a DhcpRange,
    room: Option<(u32, u32)>,
}

/// A machine that serves on a segment, or should.
pub(super) struct Server<'a> {
    pub(super) host: &'a Host,
    pub(super) address: &'a Address,
    pub(super) listens: Answer,
    pub(super) is_expected: bool,
}

impl<'a> Server<'a> {
    /// Returns the programs that serve on its device; nothing where they or their settings were not read.
    pub(super) fn programs(&self) -> Option<Vec<&'a DhcpServer>> {
        let all = self.host.dhcp_servers.read()?;
        let is_known = !all.is_empty() && all.iter().all(|one| one.is_read);
        is_known.then(|| all.iter().filter(|one| one.serves(&self.address.device)).collect())
    }

    /// Returns what it gives away on its segment, and how much of it is taken.
    fn ranges(&self) -> Option<Vec<Pool<'a>>> {
        let programs = self.programs()?;
        let own = programs.into_iter().flat_map(|one| one.ranges.iter().map(move |range| (range, one)));
        let near = own.filter(|(range, _)| self.address.net.contains(&IpAddr::V4(range.first)));
        Some(near.map(|(range, one)| Pool { range, room: range.filled(&one.taken) }).collect())
    }

    /// Tells whether it gives addresses to whoever asks.
    fn gives(&self) -> bool {
        let has_room = |pool: &Pool<'_>| pool.room.is_some_and(|(taken, size)| taken < size);
        self.listens.is_yes() && self.ranges().is_none_or(|all| all.iter().any(has_room))
    }

    fn net(&self) -> IpNet {
        self.address.net.trunc()
    }

    /// Shows that it listens, or that nobody does.
    pub(super) fn proof(&self) -> (&'a str, Part, String) {
        let socket = self.host.listeners.rows().iter().find(|own| own.protocol == "udp" && own.port == PORT);
        let shows = socket.map_or_else(|| "nobody listens on udp 67".to_owned(), |own| own.line.clone());
        (&self.host.name, Part::Listeners, shows)
    }
}

/// A machine that asks on a device, and has no address there.
struct Waiting<'a> {
    host: &'a Host,
    device: &'a str,
    /// What it had before.
    old: Option<&'a Lease>,
}

impl Waiting<'_> {
    fn shows(&self) -> String {
        let old = self.old.map(|lease| format!("; before: {}", lease.line())).unwrap_or_default();
        format!("dhclient asks on {}, which has no address{old}", self.device)
    }
}

/// Finds what is wrong with DHCP; `known` is what was found without it.
pub(super) fn check(network: &Network<'_>, known: &[Finding]) -> Vec<Finding> {
    let servers = servers(network);
    let mut found = Vec::new();
    for waiting in waiting(network) {
        found.extend(unserved(network, &servers, &waiting));
    }
    found.extend(silent(network, &servers));
    let rogues = rogue::check(network, &servers);
    let is_rogue = |ip: IpAddr| rogues.iter().any(|one| one.object == object(ip, None));
    for host in matters(network) {
        for lease in current(host) {
            let Some(server) = lease.server.filter(|server| !is_rogue(*server)) else { continue };
            found.extend(options(network, host, lease, server, known));
        }
    }
    found.extend(rogues);
    found
}

/// The machines that are judged: all, or those at the ends of the flows that were asked about.
pub(super) fn matters<'a>(network: &Network<'a>) -> impl Iterator<Item = &'a Host> {
    let (context, hosts) = (network.context, network.hosts);
    let all = context.whole || context.flows.is_empty();
    hosts.iter().filter(move |host| {
        all || context.flows.iter().any(|flow| {
            let had = host
                .dhcp_client
                .read()
                .is_some_and(|own| own.leases.iter().any(|lease| lease.ip == Some(flow.to)));
            flow.from == host.name || host.owns(flow.to).is_yes() || had
        })
    })
}

/// Returns the leases whose address the machine has just now.
pub(super) fn current(host: &Host) -> impl Iterator<Item = &Lease> {
    let all = host.dhcp_client.read().map(|own| own.leases.as_slice()).unwrap_or_default();
    // A file keeps every lease; of one address the latest counts.
    host.global().filter_map(|own| all.iter().rev().find(|lease| lease.ip == Some(own.ip())))
}

fn waiting<'a>(network: &Network<'a>) -> Vec<Waiting<'a>> {
    let mut found = Vec::new();
    for host in matters(network) {
        let Some(client) = host.dhcp_client.read() else { continue };
        for device in &client.asking {
            let has_address = host.global().any(|own| own.device == *device && own.net.addr().is_ipv4());
            let is_there = host.link(device).is_some_and(super::link::Link::carries);
            if has_address || !is_there || host.addresses.read().is_none() {
                continue;
            }
            let old = client.leases.iter().rev().find(|lease| lease.device.as_ref() == Some(device));
            found.push(Waiting { host, device, old });
        }
    }
    found
}

/// Who serves, on which segment: who listens, whom leases name, who is known to have served.
fn servers<'a>(network: &Network<'a>) -> Vec<Server<'a>> {
    let given: BTreeSet<IpAddr> = network
        .hosts
        .iter()
        .filter_map(|host| host.dhcp_client.read())
        .flat_map(|client| client.leases.iter().filter_map(|lease| lease.server))
        .collect();
    let mut found = Vec::new();
    for host in network.hosts {
        for address in host.global().filter(|own| own.net.addr().is_ipv4()) {
            let ip = address.ip();
            let hears = |own: &super::socket::Listener| {
                own.protocol == "udp"
                    && own.port == PORT
                    && own.hears(ip)
                    && !own.is_local()
                    && own.device.as_ref().is_none_or(|device| *device == address.device)
            };
            let listens = host.listeners.ask(|all| all.iter().any(hears));
            let is_expected = network.context.expected.iter().any(
                |one| matches!(one, Expected::DhcpServer { host: own, ip: known } if *own == host.name && *known == ip),
            );
            if listens.is_yes() || is_expected || given.contains(&ip) {
                found.push(Server { host, address, listens, is_expected });
            }
        }
    }
    found
}

/// Says why a machine that asks gets nothing.
fn unserved(network: &Network<'_>, servers: &[Server<'_>], waiting: &Waiting<'_>) -> Vec<Finding> {
    let others = || servers.iter().filter(|server| server.host.name != waiting.host.name);
    let nets: BTreeSet<IpNet> = others().map(Server::net).collect();
    let net = match waiting.old.and_then(|lease| lease.ip) {
        Some(ip) => nets.iter().find(|net| net.contains(&ip)),
        // Which segment the device is in is not read where it has no address: one alone is it.
        None if nets.len() == 1 => nets.iter().next(),
        None => None,
    };
    let own = (waiting.host.name.as_str(), Part::DhcpClient, waiting.shows());
    let Some(net) = net else {
        // Its server is none of the machines: what the machine itself knows proves nothing.
        let known = waiting.old.and_then(|lease| lease.server);
        let known = known.filter(|ip| !others().any(|server| server.address.ip() == *ip));
        let one = known.map(|server| Finding::new(LIKELY, Fault::DhcpServerDown, object(server, None), own));
        return one.into_iter().collect();
    };
    let near: Vec<&Server<'_>> = others().filter(|server| server.net() == *net).collect();
    let give: Vec<&&Server<'_>> = near.iter().filter(|server| server.gives()).collect();
    let dropped: Vec<Finding> = give.iter().filter_map(|server| dropped(network, server)).collect();
    if dropped.len() < give.len() {
        return Vec::new();
    }
    let dropped = dropped.into_iter().map(|one| one.and(own.0, own.1, own.2.clone()));
    let others = near.iter().filter(|server| !server.gives());
    others.filter_map(|server| refusal(server, &own)).chain(dropped).collect()
}

/// Names the filter of a server that lets no question in: it is for everybody on the link.
fn dropped(network: &Network<'_>, server: &Server<'_>) -> Option<Finding> {
    let flow = Flow {
        from: server.host.name.clone(),
        source: Some(Ipv4Addr::UNSPECIFIED.into()),
        to: Ipv4Addr::BROADCAST.into(),
        protocol: Protocol::Udp,
        port: Some(PORT),
        is_marked: false,
    };
    walk::on_link(network, &flow, None, (server.host, &server.address.device))
}

/// Says why a server gives nothing.
fn refusal(server: &Server<'_>, own: &(&str, Part, String)) -> Option<Finding> {
    let (client, part, asks) = own;
    let made = |fault: Fault, what: Option<String>, (host, part_there, shows): (&str, Part, String)| {
        let one = Finding::new(SURE, fault, object(server.address.ip(), what), (host, part_there, shows));
        one.and(client, *part, asks.clone())
    };
    if server.listens.is_no() {
        return Some(made(Fault::DhcpServerDown, None, server.proof()));
    }
    let prefix = || Some(server.net().to_string());
    let ranges = server.ranges().filter(|_| server.listens.is_yes())?;
    let name = server.host.name.as_str();
    if ranges.is_empty() {
        let all = server.host.dhcp_servers.rows().iter().flat_map(|one| &one.ranges);
        let lines: Vec<&str> = all.map(|range| range.line.as_str()).collect();
        return Some(made(Fault::DhcpNoRange, prefix(), (name, Part::DhcpServer, lines.join("; "))));
    }
    let full = ranges.iter().filter_map(|pool| Some((pool.range, pool.room?)));
    let full: Vec<String> =
        full.map(|(range, (taken, size))| format!("{}: {taken} of {size} taken", range.line)).collect();
    (!full.is_empty()).then(|| made(Fault::DhcpPoolFull, prefix(), (name, Part::DhcpServer, full.join("; "))))
}

/// Servers that are gone while leases hide it: those that have one keep it until it runs out.
fn silent(network: &Network<'_>, servers: &[Server<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for server in servers.iter().filter(|server| server.listens.is_no()) {
        let is_replaced = servers.iter().any(|other| other.net() == server.net() && other.gives());
        let ip = server.address.ip();
        let user = matters(network)
            .find_map(|host| current(host).find(|lease| lease.server == Some(ip)).map(|lease| (host, lease)));
        if is_replaced || (user.is_none() && !server.is_expected) {
            continue;
        }
        let weight = if user.is_some() { Weight::Degraded } else { Weight::Noticed };
        let how = (weight, Certainty::Confirmed);
        let one = Finding::new(how, Fault::DhcpServerDown, object(ip, None), server.proof());
        found.push(match user {
            Some((host, lease)) => one.and(&host.name, Part::DhcpClient, lease.line()),
            None => one,
        });
    }
    found
}

/// Returns machines with an address of their own on the segment of an address, with it.
pub(super) fn near<'a>(network: &Network<'a>, ip: IpAddr, net: IpNet) -> Vec<(&'a Host, &'a Address)> {
    let all = network.hosts.iter().flat_map(|host| host.global().map(move |own| (host, own)));
    // What was given by DHCP says nothing of what is right.
    all.filter(|(_, own)| {
        !own.is_dynamic && own.ip() != ip && (own.net.contains(&ip) || net.contains(&own.ip()))
    })
    .collect()
}

/// Returns the gateways of a segment: machines that pass packets on, and what others use and reach.
pub(super) fn gateways(network: &Network<'_>, ip: IpAddr, net: IpNet) -> BTreeSet<IpAddr> {
    let mut found = BTreeSet::new();
    for (host, own) in near(network, ip, net) {
        let leads_on =
            host.global().any(|other| other.device != own.device && !other.net.contains(&own.ip()));
        if leads_on && host.forwards(&own.device, own.ip().is_ipv6()).is_yes() {
            found.insert(own.ip());
        }
        let defaults = host.routes.rows().iter().filter(|route| route.is_default());
        let hops = defaults.flat_map(super::route::Route::next_hops);
        let via = hops.filter(|(_, device)| *device == own.device).filter_map(|(via, _)| via);
        found.extend(via.filter(|via| host.neighbor(*via).is_some_and(|entry| entry.mac.is_some())));
    }
    found
}

/// Tells whether a gateway may be one: nobody who was read has the address, and somebody answers there.
pub(super) fn may_lead_on(network: &Network<'_>, host: &Host, gateway: IpAddr) -> bool {
    let answers = host.neighbor(gateway).is_some_and(|entry| entry.mac.is_some() && !entry.is_silent());
    network.owners(gateway).is_empty() && answers
}

/// Finds what a lease says wrongly beside the address.
fn options(
    network: &Network<'_>,
    host: &Host,
    lease: &Lease,
    server: IpAddr,
    known: &[Finding],
) -> Vec<Finding> {
    let mut found = Vec::new();
    let (Some(ip), Some(length)) = (lease.ip, lease.length) else { return found };
    let Ok(net) = IpNet::new(ip, length) else { return found };
    let made = |how, option: &str, proof: (&str, Part, String)| {
        let one = Finding::new(
            how,
            Fault::DhcpWrongOption,
            object(server, Some(option.to_owned())),
            (&host.name, Part::DhcpClient, lease.line()),
        );
        settings(network, server, option, one.and(proof.0, proof.1, proof.2))
    };
    let others = near(network, ip, net);
    let lengths: BTreeSet<u8> = others.iter().map(|(_, own)| own.net.prefix_len()).collect();
    let is_outside = lease.routers.first().is_some_and(|router| !net.contains(router));
    match (lengths.len(), lengths.first(), others.first()) {
        (1, Some(right), Some((other, own))) if *right != length && length < ALONE => {
            found.push(made(
                SURE,
                "mask",
                (&other.name, Part::Addresses, format!("{} {}", own.device, own.net)),
            ));
        }
        _ if is_outside && length < ALONE => {
            let shows = format!("the gateway lies outside of {}", net.trunc());
            found.push(made(LIKELY, "mask", (&host.name, Part::DhcpClient, shows)));
        }
        _ => {}
    }
    let right = gateways(network, ip, net);
    let misleads = |router: &IpAddr| {
        !right.is_empty() && !right.contains(router) && !may_lead_on(network, host, *router)
    };
    if let Some(router) = lease.routers.first().filter(|router| misleads(router)) {
        let others: Vec<String> = right.iter().map(ToString::to_string).collect();
        let entry =
            host.neighbor(*router).map_or_else(|| format!("{router} is no gateway"), |entry| entry.line());
        let shows = format!("{entry}; others use {}", others.join(", "));
        found.push(made(SURE, "router", (&host.name, Part::NeighborsLater, shows)));
    }
    for one in known.iter().filter(|one| one.fault == Fault::WrongResolver) {
        let Object::Resolver { host: own, what } = &one.object else { continue };
        let is_given = what.parse().is_ok_and(|ip: IpAddr| lease.servers.contains(&ip));
        if *own == host.name && is_given {
            let shows =
                one.evidence.first().map(|first| (first.host.as_str(), first.part, first.shows.clone()));
            found.extend(shows.map(|proof| made((one.weight, one.certainty), "dns", proof)));
        }
    }
    found
}

/// Adds the line of the server's settings that says so.
fn settings(network: &Network<'_>, server: IpAddr, option: &str, finding: Finding) -> Finding {
    let number = match option {
        "mask" => 1,
        "router" => 3,
        _ => 6,
    };
    let owners = network.owners(server);
    let line = owners.iter().find_map(|(host, _)| {
        let own = host.dhcp_servers.rows().iter().find_map(|one| one.option(number))?;
        let values: Vec<String> = own.iter().map(ToString::to_string).collect();
        Some((host.name.as_str(), format!("dhcp-option={number},{}", values.join(","))))
    });
    match line {
        Some((host, line)) => finding.and(host, Part::DhcpServer, line),
        None => finding,
    }
}

/// Tells whether a finding only follows from what is wrong with DHCP: the machine has what it was given.
pub(super) fn explains(network: &Network<'_>, findings: &[Finding], one: &Finding) -> bool {
    let has_given = |own: &Finding, host: &str| {
        own.evidence.iter().any(|proof| proof.host == host && proof.part == Part::DhcpClient)
    };
    let by = |host: &str, causes: &[Cause]| {
        let mut hurts = findings.iter().filter(|own| own.weight != Weight::Noticed);
        hurts.any(|own| has_given(own, host) && causes.contains(&cause(own)))
    };
    let first = one.evidence.first().map(|proof| proof.host.as_str());
    match (one.fault, &one.object) {
        (Fault::AddressMissing | Fault::WrongAddress | Fault::NoResolver, object) => {
            object.host().is_some_and(|host| by(host, &[Cause::NoAddress]))
        }
        (Fault::WrongNetmask, object) => {
            object.host().is_some_and(|host| by(host, &[Cause::Mask, Cause::Rogue]))
        }
        (Fault::NoDefaultRoute | Fault::NoReturnRoute, object) => {
            object.host().is_some_and(|host| by(host, &[Cause::NoAddress, Cause::Mask, Cause::Rogue]))
        }
        (Fault::GatewayDead | Fault::WrongGateway, object) => object
            .host()
            .is_some_and(|host| by(host, &[Cause::NoAddress, Cause::Mask, Cause::Router, Cause::Rogue])),
        (Fault::WrongResolver, Object::Resolver { host, what }) => {
            let given = |host: &Host| {
                let servers = current(host).flat_map(|lease| lease.servers.iter()).map(ToString::to_string);
                servers.into_iter().any(|server| server == *what)
            };
            by(host, &[Cause::NoAddress, Cause::Mask])
                || (by(host, &[Cause::Dns, Cause::Rogue]) && network.host(host).is_some_and(given))
        }
        (Fault::DnsFailure, _) => first.is_some_and(|host| by(host, &[Cause::NoAddress, Cause::Mask])),
        (_, _) => false,
    }
}

/// What of DHCP is wrong, by what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    NoAddress,
    Mask,
    Router,
    Dns,
    Rogue,
    Nothing,
}

fn cause(finding: &Finding) -> Cause {
    match (finding.fault, &finding.object) {
        (Fault::DhcpServerDown | Fault::DhcpNoRange | Fault::DhcpPoolFull, _)
            if finding.weight == Weight::Broken =>
        {
            Cause::NoAddress
        }
        // It drops what machines ask, as what shows it says.
        (
            Fault::GuestFirewallDrop | Fault::GuestFirewallReject | Fault::GuestFirewallPolicyDrop,
            Object::FilterRule { .. } | Object::Chain { .. },
        ) => Cause::NoAddress,
        (Fault::DhcpWrongOption, Object::Dhcp { what: Some(what), .. }) => match what.as_str() {
            "mask" => Cause::Mask,
            "router" => Cause::Router,
            _ => Cause::Dns,
        },
        (Fault::DhcpRogue, _) => Cause::Rogue,
        (_, _) => Cause::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::super::gathered::Gathered;
    use super::super::judge;
    use super::super::tests::{gathered, read};
    use super::*;

    const LISTENS: &str = "udp UNCONN 0 0 0.0.0.0:67 0.0.0.0:*\n";
    const SERVES: &str =
        "now 100\nserver dnsmasq\ndhcp-range=10.0.0.100,10.0.0.101,30m\ndhcp-option=3,10.0.0.1\n";

    /// A machine with a card of its own.
    fn machine(name: &str, address: &str, gateway: Option<&str>) -> Gathered {
        let card = format!(
            r#"[{{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"operstate":"UP","link_type":"ether","address":"02:00:00:00:00:{:02x}"}}]"#,
            name.len()
        );
        gathered(address, gateway).with(Part::Links, &card)
    }

    /// A client: the address that it has, and its newest lease with gateway and name server.
    fn client(has: Option<&str>, lease: &str) -> Host {
        let all = machine("pc", has.unwrap_or("10.9.9.9/24"), None)
            .with(Part::DhcpClient, &format!("client dhclient eth0\nfile x\n{lease}"))
            .with(Part::Neighbors, r#"[{"dst":"10.0.0.66","dev":"eth0","state":["FAILED"]}]"#);
        let bare = [(Part::Addresses, r#"[{"ifname":"eth0","addr_info":[]}]"#), (Part::Routes, "[]")];
        let all = match has {
            Some(_) => all,
            None => bare.into_iter().fold(all, |all, (part, text)| all.with(part, text)),
        };
        read("pc", &all)
    }

    fn lease(mask: &str, router: &str, by: &str) -> String {
        format!(
            "lease {{\ninterface \"eth0\";\nfixed-address 10.0.0.100;\noption subnet-mask {mask};\noption routers {router};\n\
             option dhcp-server-identifier {by};\n}}\n"
        )
    }

    fn server(name: &str, ip: &str, listeners: &str, text: &str) -> Host {
        let all = machine(name, ip, None).with(Part::Listeners, listeners).with(Part::DhcpServer, text);
        read(name, &all)
    }

    /// A machine that was set up by hand and reaches the gateway of the segment.
    fn by_hand() -> Host {
        let entry = r#"[{"dst":"10.0.0.1","dev":"eth0","lladdr":"02:00:00:00:00:01","state":["REACHABLE"]}]"#;
        read("nas", &machine("nas", "10.0.0.13/24", Some("10.0.0.1")).with(Part::Neighbors, entry))
    }

    #[track_caller]
    fn check(hosts: &[Host], context: &Context, expected: &[&str]) {
        let all = judge(hosts, context).findings;
        let hurts = all.iter().filter(|one| one.weight != Weight::Noticed);
        let found: Vec<String> = hurts.map(ToString::to_string).collect();
        assert_eq!(found, expected, "{all:#?}");
    }

    #[test]
    fn a_machine_that_asks_in_vain_is_the_fault_of_its_server() {
        let none = Context::default();
        let asks = |text: &str, listeners: &str, expected: &[&str]| {
            check(&[client(None, ""), server("dhcp", "10.0.0.2/24", listeners, text)], &none, expected);
        };
        asks(
            &SERVES.replace("10.0.0.10", "10.7.0.10"),
            LISTENS,
            &["dhcp_no_range dhcp/10.0.0.2/10.0.0.0/24"],
        );
        let full = format!("{SERVES}lease 0 10.0.0.100\nlease 900 10.0.0.101\n");
        asks(&full, LISTENS, &["dhcp_pool_full dhcp/10.0.0.2/10.0.0.0/24"]);
        // One of them has run out, and a server whose settings were not read may have anything.
        let address = "address_missing address/pc/eth0";
        asks(&full.replace("900", "99"), LISTENS, &[address]);
        asks("now 100\nserver dhcpd\n", LISTENS, &[address]);
        let rules = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p udp -m udp --dport 67 -j DROP\nCOMMIT\n";
        let deaf = machine("dhcp", "10.0.0.2/24", None)
            .with(Part::Listeners, LISTENS)
            .with(Part::DhcpServer, SERVES)
            .with(Part::FilterLegacy, rules);
        let dropped = "guest_firewall_drop netfilter/dhcp/filter/INPUT/udp/67";
        check(&[client(None, ""), read("dhcp", &deaf)], &none, &[dropped]);
        // Nobody ever said that this machine serves.
        asks("now 100\n", "", &[address]);
        let old = lease("255.255.255.0", "10.0.0.1", "10.0.0.2");
        let down = [client(None, &old), server("dhcp", "10.0.0.2/24", "", "now 100\n")];
        check(&down, &none, &["dhcp_server_down dhcp/10.0.0.2"]);
        // Of a server that nobody read the machine itself proves nothing.
        let alone = judge(&[client(None, &old)], &none).findings;
        assert_eq!((alone[0].fault, alone[0].certainty), (Fault::DhcpServerDown, Certainty::Likely));
        // Who does not ask has no address for another reason.
        let quiet = read(
            "pc",
            &gathered("10.9.9.9/24", None).with(Part::Addresses, r#"[{"ifname":"eth0","addr_info":[]}]"#),
        );
        check(&[quiet, server("dhcp", "10.0.0.2/24", LISTENS, &full)], &none, &[address]);
    }

    #[test]
    fn a_lease_that_says_something_wrong_is_the_fault_of_its_server() {
        let none = Context::default();
        let with = |mask: &str, router: &str, expected: &[&str]| {
            let own = lease(mask, router, "10.0.0.2");
            let length = if mask == "255.255.255.0" { 24 } else { 30 };
            let pc = client(Some(&format!("10.0.0.100/{length}")), &own);
            check(&[pc, server("dhcp", "10.0.0.2/24", LISTENS, SERVES), by_hand()], &none, expected);
        };
        with("255.255.255.0", "10.0.0.1", &[]);
        with("255.255.255.0", "10.0.0.66", &["dhcp_wrong_option dhcp/10.0.0.2/router"]);
        with("255.255.255.252", "10.0.0.1", &["dhcp_wrong_option dhcp/10.0.0.2/mask"]);
    }

    #[test]
    fn of_two_servers_the_one_that_misleads_should_not_be_there() {
        let none = Context::default();
        let other = SERVES.replace("10.0.0.10", "10.0.0.12");
        let with = |text: &str, router: &str, by: &str, expected: &[&str]| {
            let pc = client(Some("10.0.0.100/24"), &lease("255.255.255.0", router, by));
            let both = [
                server("dhcp", "10.0.0.2/24", LISTENS, SERVES),
                server("other", "10.0.0.5/24", LISTENS, text),
            ];
            let hosts: Vec<Host> = std::iter::once(pc).chain(both).chain([by_hand()]).collect();
            check(&hosts, &none, expected);
        };
        // They share the work.
        with(&other, "10.0.0.1", "10.0.0.5", &[]);
        let odd = other.replace("3,10.0.0.1", "3,10.0.0.66");
        with(&odd, "10.0.0.66", "10.0.0.5", &["dhcp_rogue dhcp/10.0.0.5"]);
        with(&odd, "10.0.0.1", "10.0.0.2", &["dhcp_rogue dhcp/10.0.0.5"]);
    }

    #[test]
    fn what_leases_hide_is_said_where_nobody_took_over() {
        let pc = || client(Some("10.0.0.100/24"), &lease("255.255.255.0", "10.0.0.1", "10.0.0.2"));
        let down = || server("dhcp", "10.0.0.2/24", "", "now 100\n");
        let none = Context::default();
        check(&[pc(), down(), by_hand()], &none, &["dhcp_server_down dhcp/10.0.0.2"]);
        let new = server("another", "10.0.0.5/24", LISTENS, SERVES);
        check(&[pc(), down(), new, by_hand()], &none, &[]);
        // What served before and is used by nobody is noticed.
        let mut known = Context::default();
        known.expect(&server("dhcp", "10.0.0.2/24", LISTENS, SERVES));
        known.expected.retain(|one| matches!(one, Expected::DhcpServer { .. }));
        assert_eq!(known.expected.len(), 1);
        check(&[down(), by_hand()], &known, &[]);
    }
}
