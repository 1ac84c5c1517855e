//! Complaints about an address in front of several machines: a load balancer of the platform, and what may be wrong with it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::draw::{Tried, flow_slots, judged};
use super::estate::{Estate, Machine, Role, Service};
use super::group;
use super::guest::{self, Hook, Packet, State};
use super::walk::{Flow, walk};
use super::words::{About, Seen, Slots, complaint};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// Where the platform asks from whether a machine serves.
const PROBER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// The place of the frontend in its subnet.
const FRONTEND: u32 = 200;

/// What is wrong with a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    /// The probe asks for a port on which nobody listens.
    Probe,
    /// Nobody is behind it.
    Empty,
    /// Its rule takes another port.
    Rule,
    /// The page that the probe asks for comes with another status than 200.
    Status,
}

/// The page that probes ask for.
const PAGE: &str = "/healthz";

/// Somebody calls the address in front of a tier. The machines behind it are in order, so that the load balancer decides.
pub(super) fn balanced(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    let estate = &tried.drawn.estate;
    let (Some(caller), Some(first)) = (estate.owner(flow.source), estate.owner(flow.destination)) else {
        return;
    };
    let Some(subnet) = estate.subnet(&first.subnet) else { return };
    let address = subnet.prefix.at(FRONTEND);
    let members: Vec<&Machine> = estate
        .machines
        .iter()
        .filter(|one| {
            one.role == first.role && one.subnet == first.subnet && estate.listens(&one.name, flow.port)
        })
        .collect();
    let is_member = members.iter().any(|one| one.name == caller.name);
    if flow.protocol != Protocol::Tcp || first.role == Role::Appliance || members.is_empty() || is_member {
        return;
    }
    let wrong = if healthy {
        Wrong::Nothing
    } else {
        rng.one(&[Wrong::Probe, Wrong::Empty, Wrong::Rule, Wrong::Status])
    };
    let probed = if wrong == Wrong::Probe { flow.port + 1 } else { flow.port };
    let in_order = |one: &&Machine| {
        let own = Flow { destination: one.address, ..flow.clone() };
        walk(estate, &own).is_fine()
            && is_probed(estate, one, probed)
            && (wrong == Wrong::Probe) != estate.listens(&one.name, probed)
    };
    if estate.owner(address).is_some() || !members.iter().all(in_order) {
        return;
    }
    let name = format!("{}-lb", tried.drawn.app);
    let expected = match wrong {
        Wrong::Nothing => None,
        Wrong::Probe => Some(Pair::new("lb_probe_mismatch", format!("lb/{name}/probe"))),
        Wrong::Empty => Some(Pair::new("lb_backend_empty", format!("lb/{name}/pool"))),
        Wrong::Status => Some(Pair::new("lb_probe_status", format!("lb/{name}/probe"))),
        Wrong::Rule => Some(Pair::new("lb_rule_missing", format!("lb/{name}/front/tcp/{}", flow.port))),
    };
    let (network, short) = (subnet.network(), subnet.short());
    let behind = if wrong == Wrong::Empty { &[][..] } else { &members[..] };
    let taken = if wrong == Wrong::Rule { flow.port + 1 } else { flow.port };
    // Where nothing is wrong other pages come with errors, and the one of the probe does not.
    let asks = wrong == Wrong::Status || (healthy && rng.percent(50));
    let page = asks.then_some(PAGE);
    let text = table(&name, (network, short), address, behind, (taken, flow.port, probed), page);
    let names: Vec<String> = members.iter().map(|one| one.name.clone()).collect();
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let called = match rng.below(3) {
        0 => name.clone(),
        1 => address.to_string(),
        _ => format!("the load balancer {name}"),
    };
    for (slot, value) in &mut slots.values {
        match *slot {
            "{d}" => value.clone_from(&called),
            "{dn}" => value.clone_from(&name),
            "{da}" => *value = address.to_string(),
            _ => {}
        }
    }
    let seen = if healthy { Seen::Doubt } else { Seen::Timeout };
    let notes = format!("{} -> {name} tcp/{}: {wrong:?}", caller.name, flow.port);
    let mut own = judged(complaint(About::Flow(seen), &slots, rng), &[], &[], notes);
    own.expected = expected.into_iter().collect::<BTreeSet<Pair>>();
    let is_asked = |one: &&mut Service| asks && one.port == flow.port && names.contains(&one.machine);
    for service in tried.drawn.estate.services.iter_mut().filter(is_asked) {
        service.pages = match wrong {
            Wrong::Status => vec![(PAGE, rng.one(&[301, 404, 500, 503]))],
            Wrong::Nothing | Wrong::Probe | Wrong::Empty | Wrong::Rule => vec![(PAGE, 200), ("*", 404)],
        };
    }
    tried.more.push_str(&text);
    tried.complaints.push(own);
}

/// Tells whether the platform's question reaches a port of a machine, and the answer leaves it.
fn is_probed(estate: &Estate, machine: &Machine, port: u16) -> bool {
    let question = Packet {
        source: PROBER,
        destination: machine.address,
        protocol: Protocol::Tcp,
        source_port: 50_000,
        destination_port: port,
        state: State::New,
    };
    let answer = Packet {
        source: machine.address,
        destination: PROBER,
        protocol: Protocol::Tcp,
        source_port: port,
        destination_port: 50_000,
        state: State::Established,
    };
    let steps = || estate.steps.iter().filter(|(name, _)| *name == machine.name).map(|(_, step)| step);
    group::stops(estate, machine, true, &question).is_empty()
        && guest::stops(&machine.name, steps(), Hook::Input, &question).is_empty()
        && guest::stops(&machine.name, steps(), Hook::Output, &answer).is_empty()
}

/// Writes what the platform has of it: a frontend, a pool, a probe and a rule of `(taken, served, probed)` ports. The probe asks for a
/// page, or connects only.
fn table(
    name: &str,
    (network, subnet): (&str, &str),
    address: Ipv4Addr,
    members: &[&Machine],
    (taken, served, probed): (u16, u16, u16),
    page: Option<&str>,
) -> String {
    let asks = match page {
        Some(path) => format!("protocol = \"Http\", requestPath = \"{path}\""),
        None => "protocol = \"Tcp\"".to_owned(),
    };
    let own = format!("{PROVIDERS}/Microsoft.Network/loadBalancers/{name}");
    let part = |kind: &str, part: &str| format!("{{ id = \"{own}/{kind}/{part}\" }}");
    let pool: Vec<String> = members
        .iter()
        .map(|one| {
            format!(
                "{{ id = \"{PROVIDERS}/Microsoft.Network/networkInterfaces/{}-nic/ipConfigurations/ipconfig1\" }}",
                one.name
            )
        })
        .collect();
    let subnet = format!("{PROVIDERS}/Microsoft.Network/virtualNetworks/{network}/subnets/{subnet}");
    format!(
        "[[change]]\nput = \"Microsoft.Network/loadBalancers/{name}\"\n\n[change.body]\nlocation = \"eastus\"\nsku = {{ name = \"Standard\" }}\n\n\
         [[change.body.properties.frontendIPConfigurations]]\nname = \"front\"\n\
         properties = {{ privateIPAddress = \"{address}\", subnet = {{ id = \"{subnet}\" }} }}\n\n\
         [[change.body.properties.backendAddressPools]]\nname = \"pool\"\nproperties = {{ backendIPConfigurations = [{pool}] }}\n\n\
         [[change.body.properties.probes]]\nname = \"probe\"\n\
         properties = {{ {asks}, port = {probed}, intervalInSeconds = 5, probeThreshold = 2 }}\n\n\
         [[change.body.properties.loadBalancingRules]]\nname = \"rule\"\n\
         properties = {{ protocol = \"Tcp\", frontendPort = {taken}, backendPort = {served}, enableFloatingIP = false, \
         frontendIPConfiguration = {front}, backendAddressPool = {behind}, probe = {probe} }}\n\n",
        pool = pool.join(", "),
        front = part("frontendIPConfigurations", "front"),
        behind = part("backendAddressPools", "pool"),
        probe = part("probes", "probe"),
    )
}
