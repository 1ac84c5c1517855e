//! Complaints about something else than a flow between two machines: ping, somebody outside, exposure, names, storage, drift, what
//! leaves, networks without a path, machines that are not there.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::address::Prefix;
use super::app_gateway::site;
use super::balancer::balanced;
use super::bastion::bastion;
use super::cause;
use super::cluster::cluster;
use super::draw::{Complaint, Tried, flow_slots, judged};
use super::estate::{GroupRule, Hop, Machine, Network, Place, Role, Route, Service, Subnet};
use super::group::exposures;
use super::guest::{GuestStep, Rule, Target};
use super::office::office;
use super::private::private;
use super::region::region;
use super::tiers::{allow, deny, machine};
use super::walk::{Flow, Truth, walk};
use super::words::{About, Seen, Slots, complaint, time};
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// Below this number of a hundred a complaint is one of them.
pub(super) const SPECIAL_PERCENT: usize = 54;

/// Complaints that are no flow between two machines of the estate.
pub(super) fn special_case(tried: &mut Tried, special: usize, healthy: bool, rng: &mut Rng) {
    match special {
        0..=5 => ping(tried, healthy, rng),
        6..=9 => partner(tried, healthy, rng),
        10..=13 => exposure(tried, healthy, rng),
        14..=16 => names(tried, healthy, rng),
        17..=19 => storage(tried, healthy, rng),
        20..=22 => drift(tried, healthy, rng),
        23..=25 => unpeered(tried, rng),
        26..=28 => egress(tried, healthy, rng),
        29..=35 => balanced(tried, healthy, rng),
        36..=39 => private(tried, healthy, rng),
        40 | 41 => office(tried, healthy, rng),
        42..=45 => site(tried, healthy, rng),
        46 | 47 => region(tried, healthy, rng),
        48 => bastion(tried, healthy, rng),
        50..=53 => cluster(tried, healthy, rng),
        _ => absent(tried, rng),
    }
}

fn ping(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(mut flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    flow.protocol = Protocol::Icmp;
    flow.port = 0;
    if !healthy {
        cause::put(&mut tried.drawn.estate, &flow, rng);
    }
    let truth = walk(&tried.drawn.estate, &flow);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let text = complaint(About::Ping, &slots, rng);
    tried.complaints.push(judged(text, &[truth], &[], "icmp".to_owned()));
}

/// The web is gone for somebody.
fn egress(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let Some(own) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    // What an appliance makes of outbound packets depends on addresses that it translates.
    let leaves_by_appliance = |route: &Route| route.prefix == Prefix::ALL;
    if own.role == Role::Appliance || estate.tables.values().flatten().any(leaves_by_appliance) {
        return;
    }
    let outside = Ipv4Addr::new(8, 8, 8, 8);
    let flows = [443, 80].map(|port| Flow {
        source: own.address,
        destination: outside,
        protocol: Protocol::Tcp,
        port,
    });
    if !healthy {
        let port = rng.one(&[443, 80]);
        match rng.below(5) {
            3 if own.public.is_none() => estate.closed.push(own.subnet.clone()),
            4 if own.public.is_none() => {
                estate.closed.push(own.subnet.clone());
                estate.bare_gateway.push(own.subnet.clone());
            }
            0 => {
                let rule = Rule::port(Protocol::Tcp, port, Target::Drop);
                estate.steps.push((own.name.clone(), GuestStep::Rule { chain: "OUTPUT", first: true, rule }));
            }
            1 => {
                let hop =
                    if rng.percent(50) { Hop::None } else { Hop::Appliance(Ipv4Addr::new(10, 255, 0, 9)) };
                let name = format!("out-{}", 100 + rng.below(900));
                estate.add_route(&own.subnet, "rt-out", Route { name, prefix: Prefix::ALL, hop });
            }
            _ => {
                let Some(group) = estate.groups_of(&own).into_iter().flatten().next() else { return };
                let rule = GroupRule {
                    name: format!("no-out-{}", 100 + rng.below(900)),
                    ports: vec![(port, port)],
                    destination: Place::Internet,
                    ..deny("", 230, false)
                };
                estate.add_rule(&group, rule);
            }
        }
    }
    let truths: Vec<Truth> = flows.iter().map(|flow| walk(estate, flow)).collect();
    let mut slots = Slots::default();
    slots.set("{sn}", own.name.clone());
    slots.set("{t}", time(rng));
    let text = complaint(About::Egress, &slots, rng);
    tried.complaints.push(judged(text, &truths, &[], format!("{} -> the internet", own.name)));
}

fn partner(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let role = rng.one(&[Role::Web, Role::App]);
    let Some(name) = estate.of_role(role).first().map(|machine| machine.name.clone()) else { return };
    let source = Ipv4Addr::new(198, 51, 100, u8::try_from(120 + rng.below(100)).unwrap_or(120));
    let Some(own) = estate.machines.iter_mut().find(|machine| machine.name == name) else { return };
    own.public = Some(Ipv4Addr::new(203, 0, 113, 77));
    let own = own.clone();
    if own.group.is_none() && estate.groups_of(&own).iter().all(Option::is_none) {
        return;
    }
    for group in estate.groups_of(&own).into_iter().flatten() {
        let rule = GroupRule {
            name: "allow-vendor-ssh".to_owned(),
            ..allow("", 290, Place::Of(Prefix::new(source, 32)), 22)
        };
        estate.add_rule(&group, rule);
    }
    estate.services.push(Service::new(name, 22, "sshd"));
    let flow = Flow { source, destination: own.address, protocol: Protocol::Tcp, port: 22 };
    if !healthy {
        cause::put(estate, &flow, rng);
    }
    let truth = walk(estate, &flow);
    // The machine of a lab serves ssh by itself.
    estate.services.retain(|service| service.port != 22);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    slots.set("{a}", source.to_string());
    let text = complaint(About::Partner, &slots, rng);
    tried.complaints.push(judged(text, &[truth], &[], format!("{source} -> {} tcp/22", own.name)));
}

fn exposure(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let Some(name) =
        estate.machines.get(rng.below(estate.machines.len())).map(|machine| machine.name.clone())
    else {
        return;
    };
    let Some(own) = estate.machines.iter_mut().find(|machine| machine.name == name) else { return };
    own.public = Some(Ipv4Addr::new(203, 0, 113, 77));
    if own.group.is_none() {
        own.group = Some(format!("{name}-own-nsg"));
    }
    let own = own.clone();
    let groups: Vec<String> = estate.groups_of(&own).into_iter().flatten().collect();
    // A group that nobody had before is there, though it may have no rule of its own.
    for group in &groups {
        estate.groups.entry(group.clone()).or_default();
    }
    let opened = if healthy { rng.below(groups.len().max(1)) } else { groups.len() };
    for group in groups.iter().take(opened) {
        let port = rng.one(&[22, 3389]);
        let place = if rng.percent(50) { Place::Any } else { Place::Internet };
        let rule = GroupRule {
            name: format!("quick-fix-{}", 100 + rng.below(900)),
            ..allow("", 110, place, if healthy { port } else { 3389 })
        };
        estate.add_rule(group, rule);
    }
    let found: BTreeSet<Pair> = exposures(estate, &own, &[22, 3389]).into_iter().collect();
    // Whether other ports count depends on how one asks.
    let ports: Vec<u16> =
        estate.services.iter().map(|service| service.port).chain([80, 443, 445, 23]).collect();
    let may: BTreeSet<Pair> = exposures(estate, &own, &ports).into_iter().collect();
    let mut slots = Slots::default();
    slots.set("{d}", own.name.clone());
    tried.complaints.push(Complaint {
        text: complaint(About::Exposure, &slots, rng),
        may: may.difference(&found).cloned().collect(),
        expected: found,
        gap: None,
        notes: format!("exposure of {}", own.name),
    });
}

fn names(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let Some(own) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    if own.role == Role::Appliance {
        return;
    }
    let mut expected = BTreeSet::new();
    if !healthy && rng.percent(75) {
        estate.dns_fails_for = Some((own.name.clone(), rng.one(&["silent", "servfail"])));
        expected.insert(Pair::new("dns_failure", "dns/168.63.129.16"));
    } else if !healthy {
        let rule = Rule::port(Protocol::Udp, 53, Target::Drop);
        estate.steps.push((own.name.clone(), GuestStep::Rule { chain: "OUTPUT", first: true, rule }));
        let object = format!("netfilter/{}/filter/OUTPUT/udp/53", own.name);
        expected.insert(Pair::new("guest_firewall_drop", object));
    }
    for group in estate.groups_of(&own).into_iter().flatten() {
        if rng.percent(50) {
            // The platform's name server is no subject of it.
            let rule = GroupRule {
                name: format!("deny-dns-{}", 100 + rng.below(900)),
                ports: vec![(53, 53)],
                ..deny("", 230, false)
            };
            estate.add_rule(&group, rule);
        }
    }
    let query = Flow {
        source: own.address,
        destination: Ipv4Addr::new(168, 63, 129, 16),
        protocol: Protocol::Udp,
        port: 53,
    };
    // Routes and groups hold for nothing of the platform; what the machine does to its own questions holds.
    let hurt = walk(estate, &query).hurts;
    let failure = Pair::new("dns_failure", "dns/168.63.129.16");
    let may = hurt.into_iter().chain((!healthy).then_some(failure));
    let may = may.filter(|pair| !expected.contains(pair)).collect();
    let mut slots = Slots::default();
    slots.set("{sn}", own.name.clone());
    slots.set("{t}", time(rng));
    tried.complaints.push(Complaint {
        text: complaint(About::Names, &slots, rng),
        expected,
        may,
        gap: None,
        notes: "the platform's name server is not subject to security groups".to_owned(),
    });
}

fn storage(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let Some(own) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    if own.role == Role::Appliance || healthy {
        return;
    }
    let mut expected = BTreeSet::new();
    if rng.percent(50) {
        estate.storage.denies = true;
        expected.insert(Pair::new("storage_firewall_deny", "storage/nwlogs080613"));
    } else {
        estate.storage.denies = true;
        estate.storage.lets = vec![own.subnet.clone()];
        estate.storage.endpoint_lost = Some(own.subnet.clone());
        let object = format!("subnet/{}/Microsoft.Storage", own.subnet);
        expected.insert(Pair::new("service_endpoint_missing", object));
    }
    let denies = Pair::new("storage_firewall_deny", "storage/nwlogs080613");
    let may = if expected.contains(&denies) { BTreeSet::new() } else { BTreeSet::from([denies]) };
    let mut slots = Slots::default();
    slots.set("{sn}", own.name.clone());
    slots.set("{t}", time(rng));
    tried.complaints.push(Complaint {
        text: complaint(About::Storage, &slots, rng),
        expected,
        may,
        gap: None,
        notes: "storage".to_owned(),
    });
}

fn drift(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let Some(own) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    let id = rng.one(&["pre_window_2", "before-maintenance", "golden-week12", "eni_pre_change"]);
    let Some(group) = estate.groups_of(&own).into_iter().flatten().next() else { return };
    let mut expected = BTreeSet::new();
    if healthy || rng.percent(40) {
        expected.insert(Pair::new("no_drift", format!("effective/{}", own.name)));
    } else {
        let name = format!("chg-{}", 100 + rng.below(900));
        let taken = estate.groups.get(&group).into_iter().flatten();
        let free = (240..400).find(|at| taken.clone().all(|rule| rule.priority != *at)).unwrap_or(240);
        tried.more.push_str(&format!(
            "[[fault]]\nkind = \"nsg_rule\"\nid = \"change\"\nnsg = \"{group}\"\nname = \"{name}\"\npriority = {free}\nprotocol = \"Tcp\"\nports = [\"8443\"]\n\n"
        ));
        expected.insert(Pair::new("nsg_deny", format!("nsg/{group}/{name}")));
    }
    tried.more.push_str(&format!(
        "[[baseline]]\nkind = \"effective\"\nid = \"{id}\"\nvm = \"{}\"\nage = \"{}\"\n\n",
        own.name,
        rng.one(&["26h", "3d", "90m"])
    ));
    let mut slots = Slots::default();
    slots.set("{sn}", own.name.clone());
    slots.set("{b}", id);
    tried.complaints.push(Complaint {
        text: complaint(About::Drift, &slots, rng),
        expected,
        may: BTreeSet::new(),
        gap: None,
        notes: format!("drift of {}", own.name),
    });
}

/// A network of a partner to which no path leads, or only half of one.
fn unpeered(tried: &mut Tried, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let drawn = rng.one(&["", "Disconnected", "Initiated", "no access"]);
    let state = if drawn == "no access" { "Connected" } else { drawn };
    let Some(network) = estate.networks.last().map(|network| network.name.clone()) else { return };
    let peerings = |other: &str| if state.is_empty() { Vec::new() } else { vec![(other.to_owned(), state)] };
    estate.networks.push(Network {
        name: "partner-vnet".to_owned(),
        prefix: Prefix::new(Ipv4Addr::new(10, 200, 0, 0), 16),
        peerings: peerings(&network),
    });
    if let Some(own) = estate.networks.iter_mut().find(|own| own.name == network) {
        own.peerings.extend(peerings("partner-vnet"));
    }
    if drawn == "no access" {
        estate.kept_out.push(("partner-vnet".to_owned(), network.clone()));
    }
    let prefix = Prefix::new(Ipv4Addr::new(10, 200, 1, 0), 24);
    let subnet = "partner-vnet/app".to_owned();
    estate.groups.entry("partner-nsg".to_owned()).or_default();
    estate.subnets.push(Subnet {
        name: subnet.clone(),
        prefix,
        group: Some("partner-nsg".to_owned()),
        table: None,
    });
    estate.machines.push(machine("partner-api".to_owned(), Role::Partner, prefix.at(4), &subnet));
    estate.services.push(Service::new("partner-api".to_owned(), 8443, "nginx"));
    let callers: Vec<Machine> = estate
        .machines
        .iter()
        .filter(|machine| machine.subnet.starts_with(&format!("{network}/")))
        .cloned()
        .collect();
    let Some(own) = callers.get(rng.below(callers.len())) else { return };
    let flow = Flow { source: own.address, destination: prefix.at(4), protocol: Protocol::Tcp, port: 8443 };
    let truth = walk(estate, &flow);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let text = complaint(About::Flow(Seen::Timeout), &slots, rng);
    let notes = format!("nothing leads from {} to partner-api", own.name);
    let has_gap = truth.gap.is_some();
    let mut complaint = judged(text, &[truth], &[], notes);
    if has_gap {
        // The caller's side is named, or the two networks where there is no side; the other side may be.
        let side = |own: &str, other: &str| {
            Pair::new("peering_disconnected", format!("peering/{own}/{own}-to-{other}"))
        };
        let (found, other) = match state {
            "" => {
                let mut both = ["partner-vnet", network.as_str()];
                both.sort_unstable();
                (Pair::new("peering_missing", format!("peering/{}", both.join("/"))), None)
            }
            _ => (side(&network, "partner-vnet"), Some(side("partner-vnet", &network))),
        };
        complaint.may = complaint.may.into_iter().chain(other).filter(|pair| *pair != found).collect();
        complaint.expected = BTreeSet::from([found]);
    }
    tried.complaints.push(complaint);
}

/// Somebody names a machine that is not there.
fn absent(tried: &mut Tried, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let name = format!("{}-report-9", tried.drawn.app);
    for (slot, value) in &mut slots.values {
        if matches!(*slot, "{s}" | "{sn}") {
            value.clone_from(&name);
        }
        if matches!(*slot, "{da}") {
            // The other end stays who it is.
            *value = flow.destination.to_string();
        }
    }
    tried.complaints.push(Complaint {
        text: complaint(About::Flow(Seen::Timeout), &slots, rng),
        expected: BTreeSet::new(),
        may: BTreeSet::new(),
        gap: Some(format!("there is no machine {name}")),
        notes: format!("there is no machine {name}"),
    });
}
