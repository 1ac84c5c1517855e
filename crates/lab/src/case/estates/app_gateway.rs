//! Complaints about a site behind an application gateway: it answers, or why it does not.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::address::Prefix;
use super::draw::{Tried, flow_slots, judged};
use super::estate::{Estate, Machine, Role, Service, Subnet};
use super::tiers::machine;
use super::walk::{Flow, walk};
use super::words::{About, Seen, Slots, complaint};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// The place of its subnet in its network.
const PLACE: u32 = 253 * 256;
/// The places of an instance and of the frontend in the subnet.
const INSTANCE: u32 = 4;
const FRONTEND: u32 = 10;
/// The page that probes ask for.
const PAGE: &str = "/healthz";
/// A certificate that ended in May 2025.
const EXPIRED: &str = include_str!("expired.b64");

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    /// The page of the probe comes with a status that does not count.
    Probe,
    /// The servers have a certificate that the gateway does not take.
    Tls,
    Expired,
    Empty,
    Stopped,
    /// It cannot say how its servers are, and works.
    Unknown,
    /// One of several servers takes nothing new.
    Draining,
}

impl Wrong {
    const BAD: [Self; 5] = [Self::Probe, Self::Tls, Self::Expired, Self::Empty, Self::Stopped];
    const GOOD: [Self; 3] = [Self::Nothing, Self::Unknown, Self::Draining];

    fn expected(self, name: &str) -> Option<Pair> {
        let (code, part) = match self {
            Self::Nothing | Self::Unknown | Self::Draining => return None,
            Self::Probe => ("appgw_probe_mismatch", "/health"),
            Self::Tls => ("appgw_backend_tls", "/servers"),
            Self::Expired => ("appgw_cert_expired", "/site"),
            Self::Empty => ("appgw_pool_empty", "/pool"),
            Self::Stopped => ("appgw_stopped", ""),
        };
        Some(Pair::new(code, format!("appgw/{name}{part}")))
    }
}

/// Somebody calls the site. All else on the path is in order, so that the gateway decides.
pub(super) fn site(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    let estate = &tried.drawn.estate;
    let (Some(caller), Some(first)) = (estate.owner(flow.source), estate.owner(flow.destination)) else {
        return;
    };
    let Some(network) = first.subnet.split('/').next().and_then(|name| estate.network(name)) else { return };
    let subnet = Prefix::new(network.prefix.at(PLACE), 27);
    let is_taken = estate.subnets.iter().any(|own| {
        own.short() == "gateways" || own.prefix.holds(subnet.at(0)) || subnet.holds(own.prefix.at(0))
    });
    let servers: Vec<&Machine> = estate
        .machines
        .iter()
        .filter(|one| {
            one.role == first.role && one.subnet == first.subnet && estate.listens(&one.name, flow.port)
        })
        .collect();
    let is_server = servers.iter().any(|one| one.name == caller.name);
    let is_odd = flow.protocol != Protocol::Tcp || first.role == Role::Appliance || is_server;
    if is_taken || network.prefix.length() > 16 || is_odd || servers.is_empty() {
        return;
    }
    let wrong = if healthy { rng.one(&Wrong::GOOD) } else { rng.one(&Wrong::BAD) };
    if wrong == Wrong::Draining && servers.len() < 2 {
        return;
    }
    let port = if wrong == Wrong::Expired { 443 } else { 80 };
    let frontend = subnet.at(FRONTEND);
    let with = with_gateway(estate, &format!("{}/gateways", network.name), subnet, port);
    let called = Flow { destination: frontend, port, ..flow.clone() };
    let asked = |one: &&Machine| {
        let own = Flow { source: subnet.at(INSTANCE), destination: one.address, ..flow.clone() };
        walk(&with, &own).is_fine()
    };
    if !walk(&with, &called).is_fine() || !servers.iter().all(asked) {
        return;
    }
    let name = format!("{}-agw", tried.drawn.app);
    let behind = if wrong == Wrong::Empty { &[][..] } else { &servers[..] };
    let text = table(&name, (&network.name, subnet, frontend), behind, (port, flow.port), wrong);
    let names: Vec<String> = servers.iter().map(|one| one.name.clone()).collect();
    let notes = format!("{} -> {name} tcp/{port}: {wrong:?}", caller.name);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let spoken = match rng.below(3) {
        0 => name.clone(),
        1 => frontend.to_string(),
        _ => format!("the application gateway {name}"),
    };
    for (slot, value) in &mut slots.values {
        match *slot {
            "{d}" => value.clone_from(&spoken),
            "{dn}" => value.clone_from(&name),
            "{da}" => *value = frontend.to_string(),
            "{p}" => *value = port.to_string(),
            "{prog}" => "the site".clone_into(value),
            _ => {}
        }
    }
    let seen = if healthy { Seen::Doubt } else { Seen::Timeout };
    let mut own = judged(complaint(About::Flow(seen), &slots, rng), &[], &[], notes);
    own.expected = wrong.expected(&name).into_iter().collect::<BTreeSet<Pair>>();
    let status = if wrong == Wrong::Probe { rng.one(&[401, 404, 500, 503]) } else { 200 };
    let is_asked = |one: &&mut Service| one.port == flow.port && names.contains(&one.machine);
    for service in tried.drawn.estate.services.iter_mut().filter(is_asked) {
        service.pages = vec![(PAGE, status)];
    }
    tried.more.push_str(&text);
    tried.complaints.push(own);
}

/// Returns the estate with somebody at the addresses of the gateway, so that the paths to it and from it can be walked.
fn with_gateway(estate: &Estate, name: &str, prefix: Prefix, port: u16) -> Estate {
    let mut with = estate.clone();
    with.subnets.push(Subnet { name: name.to_owned(), prefix, group: None, table: None });
    for (own, at) in [("gateway-instance", INSTANCE), ("gateway-frontend", FRONTEND)] {
        with.machines.push(machine(own.to_owned(), Role::Web, prefix.at(at), name));
        with.services.push(Service::new(own.to_owned(), port, "nginx"));
    }
    with
}

/// Writes what the platform has of it: its subnet, the gateway that takes the first port and asks the second, and what its servers are like.
fn table(
    name: &str,
    (network, subnet, frontend): (&str, Prefix, Ipv4Addr),
    servers: &[&Machine],
    (taken, asked): (u16, u16),
    wrong: Wrong,
) -> String {
    let kind = "Microsoft.Network";
    let own = format!("{kind}/applicationGateways/{name}");
    let place = format!("{kind}/virtualNetworks/{network}/subnets/gateways");
    let part = |list: &str, part: &str| format!("{{ id = \"{PROVIDERS}/{own}/{list}/{part}\" }}");
    let inside = format!("{{ id = \"{PROVIDERS}/{place}\" }}");
    let addresses: Vec<String> =
        servers.iter().map(|one| format!("{{ ipAddress = \"{}\" }}", one.address)).collect();
    let (listens, shown) = match wrong {
        Wrong::Expired => (
            format!("protocol = \"Https\", sslCertificate = {}", part("sslCertificates", "site")),
            format!(
                "sslCertificates = [{{ name = \"site\", properties = {{ publicCertData = \"{}\" }} }}]\n",
                EXPIRED.trim()
            ),
        ),
        Wrong::Nothing
        | Wrong::Probe
        | Wrong::Tls
        | Wrong::Empty
        | Wrong::Stopped
        | Wrong::Unknown
        | Wrong::Draining => ("protocol = \"Http\"".to_owned(), String::new()),
    };
    let asks = if wrong == Wrong::Tls { "Https" } else { "Http" };
    let state = if wrong == Wrong::Stopped { "operationalState = \"Stopped\"\n" } else { "" };
    let all = |word: &str| {
        let pairs: Vec<String> =
            servers.iter().map(|one| format!("\"{}\" = \"{word}\"", one.address)).collect();
        format!("certificates = {{ {} }}\n", pairs.join(", "))
    };
    let far = match wrong {
        Wrong::Tls => all("untrusted"),
        Wrong::Unknown => "unknown = true\n".to_owned(),
        Wrong::Draining => {
            servers.first().map(|one| format!("draining = [\"{}\"]\n", one.address)).unwrap_or_default()
        }
        Wrong::Nothing | Wrong::Probe | Wrong::Expired | Wrong::Empty | Wrong::Stopped => String::new(),
    };
    let far = match far.is_empty() {
        true => String::new(),
        false => format!("[[change]]\nput = \"{own}/backends/far\"\n\n[change.body.properties]\n{far}\n"),
    };
    format!(
        "[[change]]\nput = \"{place}\"\nbody = {{ properties = {{ addressPrefix = \"{subnet}\" }} }}\n\n\
         [[change]]\nput = \"{own}\"\n\n[change.body]\nlocation = \"eastus\"\n\n[change.body.properties]\n\
         sku = {{ name = \"Standard_v2\", tier = \"Standard_v2\", capacity = 2 }}\n{state}\
         gatewayIPConfigurations = [{{ name = \"ip\", properties = {{ subnet = {inside} }} }}]\n\
         frontendIPConfigurations = [{{ name = \"front\", properties = {{ privateIPAddress = \"{frontend}\", subnet = {inside} }} }}]\n\
         frontendPorts = [{{ name = \"port\", properties = {{ port = {taken} }} }}]\n{shown}\
         httpListeners = [{{ name = \"site\", properties = {{ {listens}, frontendIPConfiguration = {front}, frontendPort = {port} }} }}]\n\
         backendAddressPools = [{{ name = \"pool\", properties = {{ backendAddresses = [{addresses}] }} }}]\n\
         probes = [{{ name = \"health\", properties = {{ protocol = \"{asks}\", path = \"{PAGE}\", interval = 30, timeout = 30, unhealthyThreshold = 3 }} }}]\n\
         backendHttpSettingsCollection = [{{ name = \"servers\", properties = {{ port = {asked}, protocol = \"{asks}\", probe = {probe} }} }}]\n\
         requestRoutingRules = [{{ name = \"rule\", properties = {{ ruleType = \"Basic\", priority = 100, httpListener = {listener}, \
         backendAddressPool = {pool}, backendHttpSettings = {settings} }} }}]\n\n{far}",
        addresses = addresses.join(", "),
        front = part("frontendIPConfigurations", "front"),
        port = part("frontendPorts", "port"),
        probe = part("probes", "health"),
        listener = part("httpListeners", "site"),
        pool = part("backendAddressPools", "pool"),
        settings = part("backendHttpSettingsCollection", "servers"),
    )
}
