//! A whole case: an estate, what people say about it, and what is right.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde_json::{Value, json};

use super::cause;
use super::estate::{Estate, Role};
use super::flow_log::flow_log;
use super::herring::strew;
use super::hub::hub;
use super::inside::inside;
use super::region::elsewhere;
use super::special;
use super::subscription::moved;
use super::tiers::{Drawn, tiers};
use super::walk::{Flow, Truth, walk};
use super::words::{About, Seen, Slots, complaint, message, named, role, time};
use super::write::{self, CaseText};
use crate::azure::Description;
use crate::case::model::Pair;
use crate::case::random::Rng;

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
    pub estate: Value,
}

/// A complaint, and what is right about it.
pub(super) struct Complaint {
    pub(super) text: String,
    pub(super) expected: BTreeSet<Pair>,
    pub(super) may: BTreeSet<Pair>,
    pub(super) gap: Option<String>,
    pub(super) notes: String,
}

/// So often of a hundred somebody complains about the inside of a cluster.
const INSIDE_PERCENT: usize = 8;

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
    let own = &mut Rng::new(salt(92), number);
    if own.percent(INSIDE_PERCENT) {
        let rng = &mut Rng::new(salt(93), number);
        let mut tried = one(profile, true, rng);
        if let Some((text, complaint)) = inside(tried.drawn.app, healthy, own) {
            // The machines beside it are in order, and nobody complains about them.
            (tried.more, tried.complaints) = (text, vec![complaint]);
            tried.traffic.clear();
            return finish(profile, seed, number, &tried, own);
        }
    }
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
    let Some(mut tried) = last else { return empty(profile) };
    // Whatever is drawn stays as it is without them.
    let events = &mut Rng::new(salt(90), number);
    if events.percent(30) {
        tried.more.push_str(&elsewhere("ALSO", events));
    }
    places(&mut tried, profile, &mut Rng::new(salt(91), number));
    let rng = &mut Rng::new(salt(99), number);
    finish(profile, seed, number, &tried, rng)
}

/// Puts a network into another subscription, or turns a flow log on, where somebody complains about a flow.
fn places(tried: &mut Tried, profile: Profile, rng: &mut Rng) {
    let Some(flow) = tried.flow.clone() else { return };
    match rng.below(100) {
        0..30 if profile == Profile::Hub => tried.moved = other_network(&tried.drawn.estate, &flow, rng),
        30..55 => {
            let healthy = tried.complaints.iter().all(|own| own.expected.is_empty() && own.gap.is_none());
            flow_log(tried, &flow, healthy, rng);
        }
        _ => {}
    }
}

/// Returns the network of the called machine, or the hub: that of the caller is whose team complains.
fn other_network(estate: &Estate, flow: &Flow, rng: &mut Rng) -> Option<String> {
    let network = |end| Some(estate.owner(end)?.subnet.split('/').next()?.to_owned());
    let (from, to) = (network(flow.source)?, network(flow.destination)?);
    let chosen = if rng.percent(60) { to } else { "hub-vnet".to_owned() };
    (chosen != from).then_some(chosen)
}

fn empty(profile: Profile) -> DrawnCase {
    DrawnCase { id: String::new(), profile, text: String::new(), estate: Value::Null }
}

pub(super) struct Tried {
    pub(super) drawn: Drawn,
    pub(super) complaints: Vec<Complaint>,
    pub(super) traffic: Vec<(String, String, u16)>,
    pub(super) more: String,
    /// The first flow that somebody complains about, where that is one between two machines.
    flow: Option<Flow>,
    /// The network that lies in another subscription.
    moved: Option<String>,
}

fn one(profile: Profile, healthy: bool, rng: &mut Rng) -> Tried {
    let mut drawn = if profile == Profile::Hub { hub(rng) } else { tiers(rng, profile) };
    strew(&mut drawn.estate, rng);
    let mut tried = Tried {
        drawn,
        complaints: Vec::new(),
        traffic: Vec::new(),
        more: String::new(),
        flow: None,
        moved: None,
    };
    let count = match profile {
        Profile::Talk => rng.one(&[1, 1, 2, 2, 3]),
        Profile::Hardened | Profile::Hub | Profile::Unnamed | Profile::Mixed => rng.one(&[1, 1, 1, 1, 1, 2]),
    };
    let special = rng.below(100);
    if count == 1 && special < special::SPECIAL_PERCENT {
        special::special_case(&mut tried, special, healthy, rng);
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
    tried.flow = asked.first().and_then(|own| own.flows.first()).cloned();
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
    // Two complaints about the same tiers would be one: the sockets of the first say whom the second means.
    let is_of = |own: &Flow| role_of(own.source) == Some(from) && role_of(own.destination) == Some(to);
    if known.iter().flat_map(|own| &own.flows).any(is_of) {
        return None;
    }
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

pub(super) fn judged(text: String, truths: &[Truth], around: &[Truth], notes: String) -> Complaint {
    let expected: BTreeSet<Pair> = truths.iter().flat_map(Truth::findings).collect();
    let beside = around.iter().flat_map(|truth| truth.findings().into_iter().chain(truth.neutral()));
    let may: BTreeSet<Pair> = truths.iter().flat_map(Truth::neutral).chain(beside).collect();
    let may = may.difference(&expected).cloned().collect();
    let gap = truths.iter().find_map(|truth| truth.gap.clone());
    Complaint { text, expected, may, gap, notes }
}

pub(super) fn flow_slots(slots: &mut Slots, drawn: &Drawn, flow: &Flow, rng: &mut Rng) {
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

fn finish(profile: Profile, seed: u64, number: u64, tried: &Tried, rng: &mut Rng) -> DrawnCase {
    let id = format!("e{seed}-{profile}-{number:03}");
    let complaints: Vec<&Complaint> = tried.complaints.iter().filter(|own| !own.text.is_empty()).collect();
    let expected: BTreeSet<Pair> = complaints.iter().flat_map(|own| own.expected.iter().cloned()).collect();
    let may: BTreeSet<Pair> = complaints.iter().flat_map(|own| own.may.iter().cloned()).collect();
    let may: BTreeSet<Pair> = may.difference(&expected).cloned().collect();
    let explained = complaints.iter().filter(|own| !own.expected.is_empty()).count();
    // A gap without a code of its own can only be said.
    let gaps = complaints.iter().filter(|own| own.gap.is_some() && own.expected.is_empty()).count();
    let is_denied = complaints.iter().any(|own| own.gap.is_none() && !own.expected.is_empty());
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
    if complaints.iter().any(|own| own.gap.is_some()) && !is_denied {
        let says = "(?i)root cause[^\\n]*DenyAllInBound".to_owned();
        forbidden.push(("a default rule stops what has no path".to_owned(), None, Some(says)));
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
    let mut estate = write::estate(&tried.drawn.estate, &empty);
    if let Some(network) = &tried.moved {
        moved(&mut estate, &tried.drawn.estate, network);
    }
    DrawnCase { id, profile, text, estate }
}
