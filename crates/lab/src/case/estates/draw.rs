//! A whole case: an estate, what people say about it, and what is right.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde_json::{Value, json};

use super::address::Prefix;
use super::cause;
use super::estate::{GroupRule, Hop, Machine, Network, Place, Role, Route, Service, Subnet};
use super::group::exposures;
use super::guest::{GuestStep, Rule, Target};
use super::herring::strew;
use super::hub::hub;
use super::tiers::{Drawn, allow, machine, tiers};
use super::walk::{Flow, Truth, walk};
use super::words::{About, Seen, Slots, complaint, message, named, role, time};
use super::write::{self, CaseText};
use crate::azure::Description;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// What kind of estate, and how people speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Tiers with zero-trust groups and guests that close by default.
    Hardened,
    /// A hub and spokes with an appliance by design.
    Hub,
    /// People name roles and applications, and no machine.
    Unnamed,
    /// Several complaints, logs, wrong guesses, many languages.
    Talk,
    /// Any of the others.
    Mixed,
}

impl Profile {
    /// All that are something of their own.
    pub const ALL: [Self; 4] = [Self::Hardened, Self::Hub, Self::Unnamed, Self::Talk];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hardened => "hardened",
            Self::Hub => "hub",
            Self::Unnamed => "unnamed",
            Self::Talk => "talk",
            Self::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Hardened, Self::Hub, Self::Unnamed, Self::Talk, Self::Mixed];
        let known = all.into_iter().find(|profile| profile.name() == text);
        known.ok_or_else(|| "write hardened, hub, unnamed, talk or mixed".to_owned())
    }
}

/// A case that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCase {
    pub id: String,
    /// What it was drawn as; never `Mixed`.
    pub profile: Profile,
    /// The text of the case's file, which names `ID.json`.
    pub text: String,
    /// The estate.
    pub estate: Value,
}

/// A complaint, and what is right about it.
struct Complaint {
    text: String,
    expected: BTreeSet<Pair>,
    may: BTreeSet<Pair>,
    gap: Option<String>,
    notes: String,
}

/// So often another estate is tried before one is taken as it is.
const TRIES: u64 = 40;

/// Draws a case. The same profile, seed and number always give the same.
#[must_use]
pub fn drawn(profile: Profile, seed: u64, number: u64) -> DrawnCase {
    let salt = |at: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (at << 40) ^ 0x5bd1_e995;
    let profile = if profile == Profile::Mixed {
        let at = Rng::new(salt(0), number).below(Profile::ALL.len());
        Profile::ALL.get(at).copied().unwrap_or(Profile::Hub)
    } else {
        profile
    };
    let healthy = Rng::new(salt(1), number).percent(32);
    let mut last = None;
    for at in 0..TRIES {
        let rng =
            &mut Rng::new(salt(2 + at), number.wrapping_mul(7).wrapping_add(profile.name().len() as u64));
        let tried = one(profile, healthy, rng);
        let fits = !tried.complaints.is_empty()
            && tried.complaints.iter().all(|own| !own.text.is_empty())
            && (healthy == tried.complaints.iter().all(|own| own.expected.is_empty() && own.gap.is_none()));
        last = Some(tried);
        if fits {
            break;
        }
    }
    let Some(tried) = last else { return empty(profile) };
    let rng = &mut Rng::new(salt(99), number);
    finish(profile, seed, number, &tried, rng)
}

fn empty(profile: Profile) -> DrawnCase {
    DrawnCase { id: String::new(), profile, text: String::new(), estate: Value::Null }
}

struct Tried {
    drawn: Drawn,
    complaints: Vec<Complaint>,
    traffic: Vec<(String, String, u16)>,
    more: String,
}

fn one(profile: Profile, healthy: bool, rng: &mut Rng) -> Tried {
    let mut drawn = if profile == Profile::Hub { hub(rng) } else { tiers(rng, profile) };
    strew(&mut drawn.estate, rng);
    let mut tried = Tried { drawn, complaints: Vec::new(), traffic: Vec::new(), more: String::new() };
    let count = match profile {
        Profile::Talk => rng.one(&[1, 1, 2, 2, 3]),
        Profile::Hardened | Profile::Hub | Profile::Unnamed | Profile::Mixed => rng.one(&[1, 1, 1, 1, 1, 2]),
    };
    let special = rng.below(100);
    if count == 1 && special < 31 {
        special_case(&mut tried, special, healthy, rng);
        return tried;
    }
    let mut asked: Vec<Asked> = Vec::new();
    for _ in 0..count {
        let by_role = match profile {
            Profile::Unnamed => rng.percent(85),
            Profile::Talk => rng.percent(30),
            Profile::Hardened | Profile::Hub | Profile::Mixed => false,
        };
        if let Some(own) = ask(&tried.drawn, by_role, &asked, rng) {
            asked.push(own);
        }
    }
    for own in &asked {
        if !healthy && rng.percent(if asked.len() > 1 { 65 } else { 100 }) {
            for _ in 0..rng.one(&[1, 1, 1, 2, 2, 3]) {
                if let Some(flow) = own.flows.get(rng.below(own.flows.len())).cloned() {
                    cause::put(&mut tried.drawn.estate, &flow, rng);
                }
            }
        }
    }
    for own in &asked {
        let complaint = flow_complaint(&tried.drawn, own, rng);
        tried.complaints.push(complaint);
        // Somebody talks where people complain.
        if let (true, Some(flow)) = (own.talks, own.flows.first()) {
            let names = [flow.source, flow.destination].map(|end| {
                tried.drawn.estate.owner(end).map(|machine| machine.name.clone()).unwrap_or_default()
            });
            let [from, to] = names;
            tried.traffic.push((from, to, flow.port));
        }
    }
    tried
}

/// Whom a complaint is about.
struct Asked {
    flows: Vec<Flow>,
    /// Somebody talks there all the time.
    talks: bool,
    roles: Option<(Role, Role)>,
}

fn ask(drawn: &Drawn, by_role: bool, known: &[Asked], rng: &mut Rng) -> Option<Asked> {
    let estate = &drawn.estate;
    let flow = drawn.flows.get(rng.below(drawn.flows.len()))?.clone();
    if known
        .iter()
        .flat_map(|own| &own.flows)
        .any(|own| own.destination == flow.destination && own.port == flow.port)
    {
        return None;
    }
    if !by_role {
        return Some(Asked { flows: vec![flow], talks: rng.percent(60), roles: None });
    }
    let role_of = |address: Ipv4Addr| estate.owner(address).map(|machine| machine.role);
    let (from, to) = (role_of(flow.source)?, role_of(flow.destination)?);
    let all: Vec<Flow> = drawn
        .flows
        .iter()
        .filter(|own| {
            role_of(own.source) == Some(from) && role_of(own.destination) == Some(to) && own.port == flow.port
        })
        .cloned()
        .collect();
    // Whom their sockets call is meant, and nobody else of the same role.
    let talks = rng.percent(50);
    let first = all.first()?.destination;
    let flows = all.into_iter().filter(|own| !talks || own.destination == first).collect();
    Some(Asked { flows, talks, roles: Some((from, to)) })
}

fn seen(truths: &[Truth], rng: &mut Rng) -> Seen {
    let stopped: Vec<&Truth> =
        truths.iter().filter(|truth| !truth.stops.is_empty() || truth.gap.is_some()).collect();
    if truths.iter().all(Truth::is_fine) {
        return match rng.below(8) {
            0 => Seen::Slow,
            1 => Seen::Timeout,
            _ => Seen::Doubt,
        };
    }
    match stopped.first() {
        Some(truth) if truth.is_refused => Seen::Refused,
        Some(_) => Seen::Timeout,
        None => Seen::Slow,
    }
}

fn flow_complaint(drawn: &Drawn, asked: &Asked, rng: &mut Rng) -> Complaint {
    let estate = &drawn.estate;
    let truths: Vec<Truth> = asked.flows.iter().map(|flow| walk(estate, flow)).collect();
    let seen = seen(&truths, rng);
    let mut slots = Slots::default();
    let mut notes: Vec<String> = Vec::new();
    for (flow, truth) in asked.flows.iter().zip(&truths) {
        let name = |address| estate.owner(address).map_or_else(String::new, |machine| machine.name.clone());
        let word = match (&truth.gap, truth.is_fine(), truth.stops.is_empty()) {
            (Some(gap), ..) => gap.as_str(),
            (None, true, _) => "fine",
            (None, false, true) => "degraded",
            (None, false, false) => "stopped",
        };
        notes.push(format!("{} -> {} tcp/{}: {word}", name(flow.source), name(flow.destination), flow.port));
    }
    let Some(flow) = asked.flows.first() else { return nothing() };
    flow_slots(&mut slots, drawn, flow, rng);
    let about = match asked.roles {
        Some((from, to)) => {
            slots.set("{rs}", role(from));
            slots.set("{rd}", role(to));
            About::Roles(seen)
        }
        None => About::Flow(seen),
    };
    // Of all that fits the words, what shows the symptom is meant: where something times out, what is merely slow is not.
    let shows = |truth: &Truth| !truth.stops.is_empty() || truth.gap.is_some();
    let (meant, around): (Vec<Truth>, Vec<Truth>) =
        if truths.iter().any(shows) { truths.into_iter().partition(shows) } else { (truths, Vec::new()) };
    judged(complaint(about, &slots, rng), &meant, &around, notes.join("; "))
}

fn nothing() -> Complaint {
    Complaint {
        text: String::new(),
        expected: BTreeSet::new(),
        may: BTreeSet::new(),
        gap: None,
        notes: String::new(),
    }
}

fn judged(text: String, truths: &[Truth], around: &[Truth], notes: String) -> Complaint {
    let expected: BTreeSet<Pair> = truths.iter().flat_map(Truth::findings).collect();
    let beside = around.iter().flat_map(|truth| truth.findings().into_iter().chain(truth.neutral()));
    let may: BTreeSet<Pair> = truths.iter().flat_map(Truth::neutral).chain(beside).collect();
    let may = may.difference(&expected).cloned().collect();
    let gap = truths.iter().find_map(|truth| truth.gap.clone());
    Complaint { text, expected, may, gap, notes }
}

fn flow_slots(slots: &mut Slots, drawn: &Drawn, flow: &Flow, rng: &mut Rng) {
    let estate = &drawn.estate;
    let end = |address: Ipv4Addr, slots: &mut Slots, rng: &mut Rng, names: [&'static str; 3]| {
        let [some, name, own] = names;
        match estate.owner(address) {
            Some(machine) => {
                slots.set(some, named(machine, rng));
                slots.set(name, machine.name.clone());
            }
            None => {
                slots.set(some, address.to_string());
                slots.set(name, address.to_string());
            }
        }
        slots.set(own, address.to_string());
    };
    end(flow.source, slots, rng, ["{s}", "{sn}", "{sa}"]);
    end(flow.destination, slots, rng, ["{d}", "{dn}", "{da}"]);
    slots.set("{p}", flow.port.to_string());
    slots.set("{app}", drawn.app);
    slots.set("{t}", time(rng));
    let program = estate.services.iter().find(|service| service.port == flow.port).map_or("it", |own| {
        match own.program {
            "postgres" => "postgres",
            "mysqld" => "mysql",
            "redis-server" => "redis",
            "mongod" => "mongodb",
            _ => "the service",
        }
    });
    slots.set("{prog}", program);
}

/// Complaints that are no flow between two machines of the estate.
fn special_case(tried: &mut Tried, special: usize, healthy: bool, rng: &mut Rng) {
    match special {
        0..=5 => ping(tried, healthy, rng),
        6..=9 => partner(tried, healthy, rng),
        10..=13 => exposure(tried, healthy, rng),
        14..=16 => names(tried, healthy, rng),
        17..=19 => storage(tried, healthy, rng),
        20..=22 => drift(tried, healthy, rng),
        23..=25 => unpeered(tried, rng),
        26..=28 => egress(tried, healthy, rng),
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
    // What an appliance makes of the way out depends on addresses that it translates.
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
        match rng.below(3) {
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
                    ..super::tiers::deny("", 230, false)
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
    estate.services.push(Service { machine: name, port: 22, program: "sshd" });
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
                ..super::tiers::deny("", 230, false)
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

/// A network of a partner to which no way leads, or only half of one.
fn unpeered(tried: &mut Tried, rng: &mut Rng) {
    let estate = &mut tried.drawn.estate;
    let state = rng.one(&["", "Disconnected", "Initiated"]);
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
    estate.services.push(Service { machine: "partner-api".to_owned(), port: 8443, program: "nginx" });
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
    tried.complaints.push(judged(text, &[truth], &[], notes));
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

fn finish(profile: Profile, seed: u64, number: u64, tried: &Tried, rng: &mut Rng) -> DrawnCase {
    let id = format!("e{seed}-{profile}-{number:03}");
    let complaints: Vec<&Complaint> = tried.complaints.iter().filter(|own| !own.text.is_empty()).collect();
    let expected: BTreeSet<Pair> = complaints.iter().flat_map(|own| own.expected.iter().cloned()).collect();
    let may: BTreeSet<Pair> = complaints.iter().flat_map(|own| own.may.iter().cloned()).collect();
    let may: BTreeSet<Pair> = may.difference(&expected).cloned().collect();
    let explained = complaints.iter().filter(|own| !own.expected.is_empty()).count();
    let gaps = complaints.iter().filter(|own| own.gap.is_some()).count();
    let outcome: &[&'static str] = match (explained, gaps) {
        (0, 0) => &["NO_FAULT_FOUND", "INCONCLUSIVE"],
        (0, _) => &["INCONCLUSIVE", "LIKELY"],
        (all, 0) if all == complaints.len() => &["CONFIRMED", "LIKELY"],
        _ => &["LIKELY", "INCONCLUSIVE"],
    };
    let texts: Vec<String> = complaints.iter().map(|own| own.text.clone()).collect();
    let prompt = message(&texts, rng);
    let mut forbidden: Vec<(String, Option<Pair>, Option<String>)> = Vec::new();
    for (table, route) in tried.drawn.by_design.iter().take(3) {
        let pair = Pair::new("route_detour", format!("route/{table}/{route}"));
        if !expected.contains(&pair) && !may.contains(&pair) {
            forbidden.push(("an appliance by design is the cause".to_owned(), Some(pair), None));
        }
    }
    if gaps > 0 && explained == 0 {
        let says = "(?i)root cause[^\\n]*DenyAllInBound".to_owned();
        forbidden.push(("a default rule stops what has no way".to_owned(), None, Some(says)));
    }
    let notes: Vec<&str> = complaints.iter().map(|own| own.notes.as_str()).collect();
    let (expected, may): (Vec<Pair>, Vec<Pair>) = (expected.into_iter().collect(), may.into_iter().collect());
    let text = write::case(
        &tried.drawn.estate,
        &CaseText {
            id: &id,
            title: &format!("{} causes, {} complaints, {profile}", expected.len(), complaints.len()),
            file: &format!("{id}.json"),
            prompt: &prompt,
            outcome,
            notes: &notes.join("; "),
            expected: &expected,
            may: &may,
            forbidden: &forbidden,
            traffic: &tried.traffic,
            more: &tried.more,
        },
    );
    let empty = Description::usual().ok().map(|usual| {
        json!({
            "subscription": usual.subscription, "principal": usual.principal,
            "resourceGroups": usual.resource_groups, "resources": usual.resources,
            "serviceTags": usual.service_tags, "expansions": usual.expansions,
        })
    });
    let empty = empty.unwrap_or_default();
    DrawnCase { id, profile, text, estate: write::estate(&tried.drawn.estate, &empty) }
}
