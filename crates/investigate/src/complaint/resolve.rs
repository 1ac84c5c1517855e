//! Statements, made into complaints with concrete flows.

use std::net::IpAddr;

use super::mention::{Mark, Mention, What};
use super::scope::Estate;
use super::statement::{Statement, statements};
use super::{
    Basis, Complaint, ComplaintFlow, Correction, End, Inventory, Kind, Message, Protocol, Service,
    UnknownEnd, infer,
};
use crate::brief::Symptom;

/// Says what a message means in an estate: its complaints, in order, with the flows that fit their words.
#[must_use]
pub fn resolve(message: &Message, inventory: &Inventory) -> Vec<Complaint> {
    if !message.topic.needs_estate() {
        return Vec::new();
    }
    let estate = Estate::new(inventory);
    let mut found: Vec<Complaint> = Vec::new();
    let mut before = Sides::default();
    for mut statement in statements(message, &estate) {
        if !statement.has_content() && statement.symptoms.is_empty() && !statement.is_doubtful {
            if let Some(last) = found.last_mut() {
                last.control.append(&mut statement.controls);
            }
            continue;
        }
        let sides = sides(&statement, &estate, &before);
        found.extend(complaints(message, &statement, &sides, &estate));
        before = sides;
    }
    with_drift(message, &estate, &mut found);
    found
}

/// The ends of a statement.
#[derive(Debug, Clone, Default)]
struct Sides {
    sources: Vec<Side>,
    destinations: Vec<Side>,
    /// Machines that it is about where nothing says whether they call.
    about: Vec<Side>,
    scope: Vec<usize>,
    unknown: Vec<UnknownEnd>,
    /// The words say who calls.
    is_marked: bool,
    services: Vec<Service>,
    /// Ends with the port that is glued to them.
    bound: Vec<(Side, u16)>,
}

/// One end, as an answer to "who".
#[derive(Debug, Clone, PartialEq, Eq)]
enum Side {
    Machine(usize, Option<IpAddr>, Basis),
    /// A frontend, by its place in the inventory.
    Frontend(usize),
    Outside(IpAddr),
    Internet,
    /// Named, and not here: nobody is judged in its place.
    Nobody,
}

impl Side {
    fn machine(&self) -> Option<usize> {
        match self {
            Self::Machine(at, ..) => Some(*at),
            Self::Frontend(_) | Self::Outside(_) | Self::Internet | Self::Nobody => None,
        }
    }
}

fn sides(statement: &Statement, estate: &Estate<'_>, before: &Sides) -> Sides {
    let mut sides = Sides { scope: scope(statement, estate, before), ..Sides::default() };
    sides.services = statement.ports.iter().map(|port| port.service).collect();
    if statement.is_ping {
        sides.services.push(Service { protocol: Protocol::Icmp, port: None });
    }
    let only = statement.mentions.iter().filter(|mention| mention.mark != Mark::Via).count() == 0;
    let mut groups: Vec<(Mark, Vec<Side>)> = Vec::new();
    let is_role = |mention: &Mention| matches!(mention.what, What::Role(..) | What::Internet);
    let named =
        statement.mentions.iter().filter(|mention| !is_role(mention) && mention.mark != Mark::Via).count();
    let mut last_kept = false;
    for mention in &statement.mentions {
        // What is on the path only is no end, unless it is all there is.
        let passes = mention.mark == Mark::Via && (!only || is_appliance(mention, estate));
        if passes
            || (is_role(mention) && named > 1 && !matches!(mention.what, What::Role(..) if mention.is_joined))
        {
            last_kept = false;
            continue;
        }
        let members = members(mention, estate, &mut sides);
        if members.is_empty() {
            last_kept = false;
            continue;
        }
        if let Some(port) = mention.port {
            sides.bound.extend(members.iter().map(|side| (side.clone(), port)));
        }
        match groups.last_mut() {
            Some((mark, last)) if mention.is_joined && last_kept && *mark != Mark::Between => {
                last.extend(members)
            }
            _ => groups.push((mention.mark, members)),
        }
        last_kept = true;
    }
    assign(groups, statement, estate, &mut sides);
    inherit(statement, estate, before, &mut sides);
    sides
}

fn is_appliance(mention: &Mention, estate: &Estate<'_>) -> bool {
    match &mention.what {
        What::Machines(all, _) => {
            all.iter().any(|at| estate.machine(*at).is_some_and(|machine| machine.forwards))
        }
        What::Name(_)
        | What::Role(..)
        | What::Outside(_)
        | What::Internet
        | What::NoOwner(_)
        | What::Unknown(_) => false,
    }
}

/// Returns the machines that a statement is confined to: those of the application that it names, or of the ends that it names.
fn scope(statement: &Statement, estate: &Estate<'_>, before: &Sides) -> Vec<usize> {
    if !statement.scope.is_empty() {
        return statement.scope.clone();
    }
    let mut applications: Vec<&str> = Vec::new();
    for mention in &statement.mentions {
        if let What::Machines(all, _) = &mention.what {
            applications.extend(all.iter().filter_map(|at| estate.application(*at)));
        }
    }
    if applications.is_empty() {
        return before.scope.clone();
    }
    estate
        .all()
        .into_iter()
        .filter(|at| estate.application(*at).is_some_and(|name| applications.contains(&name)))
        .collect()
}

/// Returns who a mention is.
fn members(mention: &Mention, estate: &Estate<'_>, sides: &mut Sides) -> Vec<Side> {
    match &mention.what {
        What::Machines(all, address) => {
            let inside: Vec<usize> = all.iter().copied().filter(|at| sides.scope.contains(at)).collect();
            let kept = if inside.is_empty() || all.len() == 1 { all.clone() } else { inside };
            let basis = if kept.len() == 1 { Basis::Named } else { Basis::Role };
            kept.into_iter().map(|at| Side::Machine(at, *address, basis)).collect()
        }
        What::Name(at) => vec![Side::Frontend(*at)],
        What::Role(role, number) => {
            let all = estate.of_role(role);
            let inside: Vec<usize> = all.iter().copied().filter(|at| sides.scope.contains(at)).collect();
            let kept = if inside.is_empty() && sides.scope.is_empty() { all } else { inside };
            let numbered = |at: &usize| {
                let end = |number: &u64| {
                    estate.machine(*at).is_some_and(|machine| trailing(&machine.name) == Some(*number))
                };
                number.as_ref().is_none_or(end)
            };
            let exact: Vec<usize> = kept.iter().copied().filter(numbered).collect();
            let kept = if exact.is_empty() { kept } else { exact };
            kept.into_iter().map(|at| Side::Machine(at, None, Basis::Role)).collect()
        }
        What::Outside(address) => vec![Side::Outside(*address)],
        What::Internet => vec![Side::Internet],
        What::NoOwner(address) => {
            sides.unknown.push(UnknownEnd::Address(*address));
            vec![Side::Nobody]
        }
        What::Unknown(name) => {
            let label = name.split('.').next().unwrap_or(name);
            sides.unknown.push(UnknownEnd::Name { name: name.clone(), nearest: estate.nearest(label) });
            vec![Side::Nobody]
        }
    }
}

fn trailing(name: &str) -> Option<u64> {
    let digits = name.len() - name.trim_end_matches(|char: char| char.is_ascii_digit()).len();
    name.get(name.len() - digits..)?.parse().ok()
}

/// Says who calls and who is called, by marks, by order, and where both leave it open by the port.
fn assign(groups: Vec<(Mark, Vec<Side>)>, statement: &Statement, estate: &Estate<'_>, sides: &mut Sides) {
    let count = groups.len();
    let has = |mark: Mark| groups.iter().any(|(known, _)| *known == mark);
    let of_count = groups.iter().filter(|(mark, _)| *mark == Mark::Of).count();
    let mut with_seen = false;
    let mut of_seen = 0;
    let mut open: Vec<Vec<Side>> = Vec::new();
    let to_named = has(Mark::To);
    // "On A …, at B …": the one that serves the port, or the last one.
    let only_at = count > 1 && groups.iter().all(|(mark, _)| *mark == Mark::At);
    let serving = |group: &[Side]| {
        let score = |side: &Side| {
            side.machine().map_or(0, |at| {
                sides
                    .services
                    .iter()
                    .map(|service| infer::serves(estate, at, at, *service))
                    .max()
                    .unwrap_or(0)
            })
        };
        group.iter().map(score).max().unwrap_or(0) > 0
    };
    // "ssh A, then telnet B 5432": of two that are called, the one that serves nothing calls.
    let has_port = |group: &[Side]| {
        group.iter().any(|side| sides.bound.iter().any(|(known, _)| known == side)) || serving(group)
    };
    let hop = count > 1
        && groups.iter().all(|(mark, _)| *mark == Mark::To)
        && groups.iter().filter(|(_, group)| has_port(group)).count() == count - 1;
    let both_serve = only_at && groups.iter().all(|(_, group)| serving(group));
    let turns = only_at && !both_serve && groups.first().is_some_and(|(_, group)| serving(group));
    let caller = if turns { count.saturating_sub(1) } else { 0 };
    let from_named = has(Mark::From);
    for (at, (mark, group)) in groups.iter().cloned().enumerate() {
        match mark {
            Mark::To if hop && !has_port(&group) => sides.sources.extend(group),
            Mark::At if only_at && !both_serve && at == caller => sides.sources.extend(group),
            Mark::From => sides.sources.extend(group),
            Mark::To => sides.destinations.extend(group),
            Mark::Between if group.len() == 2 && count == 1 => {
                open.extend(group.into_iter().map(|side| vec![side]))
            }
            Mark::With if from_named || with_seen => sides.destinations.extend(group),
            Mark::With if to_named || count > 1 => {
                with_seen = true;
                // `connection with B`: only where somebody else stands there first.
                if open.is_empty() { sides.sources.extend(group) } else { sides.destinations.extend(group) }
            }
            Mark::Of => {
                of_seen += 1;
                if from_named && !to_named {
                    sides.destinations.extend(group);
                } else if to_named
                    || (of_count > 1 && of_seen == of_count)
                    || (of_seen == 1 && of_count == 1 && has(Mark::At))
                {
                    sides.sources.extend(group);
                } else if of_count > 1 {
                    sides.destinations.extend(group);
                } else {
                    open.push(group);
                }
            }
            Mark::At if from_named || (count > 1 && !to_named) => sides.destinations.extend(group),
            Mark::At | Mark::Between | Mark::Open | Mark::With | Mark::Via => open.push(group),
        }
    }
    sides.is_marked = !sides.sources.is_empty() || !sides.destinations.is_empty();
    if open.is_empty() {
        return;
    }
    match (sides.sources.is_empty(), sides.destinations.is_empty()) {
        (true, false) => sides.sources.extend(open.into_iter().flatten()),
        (false, true) => sides.destinations.extend(open.into_iter().flatten()),
        (false, false) => {
            // Whoever stands first is spoken of; the rest is in passing.
            sides.about.extend(open.into_iter().flatten());
        }
        (true, true) if open.len() == 1 => alone(open, has(Mark::At), statement, estate, sides),
        (true, true) => {
            let mut open = open.into_iter();
            let first = open.next().unwrap_or_default();
            let rest: Vec<Side> = open.flatten().collect();
            (sides.sources, sides.destinations) =
                if statement.is_turned { (rest, first) } else { (first, rest) };
        }
    }
}

/// One end alone is called, unless it cannot be: somebody else serves the port, or it is the Internet that is not reached.
fn alone(open: Vec<Vec<Side>>, is_at: bool, statement: &Statement, estate: &Estate<'_>, sides: &mut Sides) {
    let only: Vec<Side> = open.into_iter().flatten().collect();
    let outward = [Symptom::InternetLost, Symptom::StorageUnreachable, Symptom::Names];
    if outward.iter().any(|symptom| statement.symptoms.contains(symptom))
        && !statement.symptoms.contains(&Symptom::Exposure)
    {
        sides.sources = only;
        return;
    }
    // "A and B cannot talk on 5432": one of them serves it.
    if let ([one, other], [service]) = (only.as_slice(), sides.services.as_slice())
        && let (Some(first), Some(second)) = (one.machine(), other.machine())
    {
        let (one_serves, other_serves) =
            (infer::serves(estate, first, second, *service), infer::serves(estate, second, first, *service));
        if one_serves > 1 && other_serves < 1 {
            (sides.sources, sides.destinations) = (vec![other.clone()], vec![one.clone()]);
            return;
        }
        if other_serves > 1 && one_serves < 1 {
            (sides.sources, sides.destinations) = (vec![one.clone()], vec![other.clone()]);
            return;
        }
    }
    let serves = |side: &Side, service: &Service| {
        let Some(at) = side.machine() else { return true };
        let others = infer::servers(estate, &sides.scope, *service, &[]);
        infer::serves(estate, at, at, *service) > 0 || others.iter().all(|other| *other == at)
    };
    let calls = !is_at
        && sides
            .services
            .iter()
            .filter(|service| service.port.is_some())
            .all(|service| only.iter().all(|side| !serves(side, service)))
        && sides.services.iter().any(|service| service.port.is_some())
        && !statement.ports.iter().any(|port| port.is_bound);
    if matches!(only.as_slice(), [Side::Outside(_) | Side::Internet]) || calls {
        sides.sources = only;
    } else {
        sides.destinations = only;
    }
}

/// Takes what is left out from what was said before.
fn inherit(statement: &Statement, estate: &Estate<'_>, before: &Sides, sides: &mut Sides) {
    if statement.is_next
        && !sides.destinations.is_empty()
        && !sides.scope.is_empty()
        && !statement.scope.is_empty()
    {
        return;
    }
    let own_scope = !statement.scope.is_empty();
    if sides.sources.is_empty() && sides.destinations.is_empty() && !own_scope {
        let Some(service) = sides.services.first().copied() else {
            if !statement.has_content() {
                (sides.sources, sides.destinations) = (before.sources.clone(), before.destinations.clone());
            }
            return;
        };
        // The same ends, unless the port is served by somebody else.
        let known: Vec<usize> = before.destinations.iter().filter_map(Side::machine).collect();
        let callers: Vec<usize> = before.sources.iter().filter_map(Side::machine).collect();
        let listens = known.iter().any(|at| infer::serves(estate, *at, *at, service) > 0);
        let others = infer::servers(estate, &sides.scope, service, &callers);
        sides.sources.clone_from(&before.sources);
        if service.port.is_none_or(|port| infer::MANAGEMENT.contains(&port))
            || listens
            || others.is_empty()
            || others.iter().any(|at| known.contains(at))
        {
            sides.destinations.clone_from(&before.destinations);
        }
        return;
    }
    if sides.sources.is_empty() && !sides.destinations.is_empty() && !own_scope && !before.sources.is_empty()
    {
        let servers: Vec<usize> = sides.destinations.iter().filter_map(Side::machine).collect();
        let usual = sides
            .services
            .iter()
            .flat_map(|service| infer::callers(estate, &sides.scope, &servers, *service))
            .collect::<Vec<_>>();
        let fits = |side: &Side| {
            side.machine()
                .is_none_or(|at| !servers.contains(&at) && (usual.is_empty() || usual.contains(&at)))
        };
        if before.sources.iter().all(fits) {
            sides.sources.clone_from(&before.sources);
        }
    }
    if sides.destinations.is_empty()
        && !sides.sources.is_empty()
        && sides.services.is_empty()
        && !own_scope
        && statement.is_ping
    {
        sides.destinations.clone_from(&before.destinations);
    }
}

fn kind(statement: &Statement) -> Kind {
    let exposure = statement.symptoms.contains(&Symptom::Exposure);
    if exposure
        && (statement.is_question
            || !super::clause::TROUBLE.iter().any(|symptom| statement.symptoms.contains(symptom)))
    {
        return Kind::Exposure;
    }
    let text = super::fold::fold(&statement.texts.join(" "));
    let question = &super::vocabulary::WORDS.question;
    if question.exposure_ports.are_in(&text) {
        return Kind::Exposure;
    }
    let trouble = super::clause::TROUBLE.iter().any(|symptom| statement.symptoms.contains(symptom));
    if question.leftovers.are_in(&text) && !trouble {
        return Kind::Leftovers;
    }
    if is_drift(statement) { Kind::Drift } else { Kind::Trouble }
}

/// Tells whether it asks what changed, and complains about nothing else.
fn is_drift(statement: &Statement) -> bool {
    statement.symptoms.contains(&Symptom::NothingChanged)
        && !super::clause::TROUBLE.iter().any(|symptom| statement.symptoms.contains(symptom))
        && statement.is_question
        && statement.ports.is_empty()
}

/// Makes complaints of a statement: one for each port that is named, as each may have a cause of its own.
fn complaints(
    message: &Message,
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> Vec<Complaint> {
    let kind = kind(statement);
    let base = Complaint {
        text: statement.texts.join(" "),
        kind,
        symptoms: statement.symptoms.clone(),
        is_doubtful: statement.is_doubtful || statement.is_question,
        flows: Vec::new(),
        machines: Vec::new(),
        ports: sides.services.clone(),
        accounts: message.accounts.clone(),
        unknown: sides.unknown.clone(),
        control: statement.controls.clone(),
        correction: None,
    };
    if kind != Kind::Trouble {
        let named = machines(sides, &[], estate);
        let named = if !named.is_empty() {
            named
        } else {
            names(if sides.scope.is_empty() { estate.all() } else { sides.scope.clone() }, estate)
        };
        return vec![Complaint { machines: named, ..base }];
    }
    if sides.services.len() < 2 || names_only(statement) {
        return vec![with_flows(base, &sides.services, statement, sides, estate)];
    }
    sides
        .services
        .iter()
        .map(|service| {
            let base = Complaint { ports: vec![*service], ..base.clone() };
            with_flows(base, std::slice::from_ref(service), statement, sides, estate)
        })
        .collect()
}

/// Names that fail are about machines and their name servers, whatever port stands beside them.
fn names_only(statement: &Statement) -> bool {
    statement.symptoms.contains(&Symptom::Names) || statement.symptoms.contains(&Symptom::Containers)
}

fn with_flows(
    mut complaint: Complaint,
    services: &[Service],
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> Complaint {
    let mut flows: Vec<ComplaintFlow> = Vec::new();
    let mut written: Vec<ComplaintFlow> = Vec::new();
    if !names_only(statement) && complaint.accounts.is_empty() {
        let whole = [Service { protocol: Protocol::Tcp, port: None }];
        let services = if services.is_empty() { whole.as_slice() } else { services };
        for service in services {
            let (found, reversed) = flows_of(*service, statement, sides, estate);
            flows.extend(found);
            written.extend(reversed);
        }
    }
    once(&mut flows);
    complaint.machines = machines(sides, &flows, estate);
    if let Some(first) = written.first() {
        let port = first.port.map(|port| port.to_string()).unwrap_or_default();
        let server = first.source.machine().unwrap_or_default();
        let why = format!("{server} serves port {port}, so the other end calls it");
        once(&mut written);
        complaint.correction = Some(Correction { written, why });
    }
    complaint.flows = flows;
    complaint
}

fn once(flows: &mut Vec<ComplaintFlow>) {
    let mut kept: Vec<ComplaintFlow> = Vec::with_capacity(flows.len());
    for flow in flows.drain(..) {
        if !kept.contains(&flow) {
            kept.push(flow);
        }
    }
    *flows = kept;
}

/// Returns the flows of one port, and those that the words have the wrong direction.
fn flows_of(
    service: Service,
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> (Vec<ComplaintFlow>, Vec<ComplaintFlow>) {
    let nobody =
        |list: &[Side]| list.contains(&Side::Nobody) && list.iter().all(|side| *side == Side::Nobody);
    if nobody(&sides.sources) || nobody(&sides.destinations) {
        return (Vec::new(), Vec::new());
    }
    let places = |list: &[Side]| list.iter().filter_map(Side::machine).collect::<Vec<usize>>();
    let inferred = |list: Vec<usize>| {
        list.into_iter().map(|at| Side::Machine(at, None, Basis::Inferred)).collect::<Vec<Side>>()
    };
    let (mut sources, mut destinations) = (sides.sources.clone(), with_port(service, sides));
    let outward = statement.symptoms.contains(&Symptom::InternetLost);
    if sources.is_empty() && destinations.is_empty() {
        if service.port.is_none() {
            return (whole(service, sides, estate), Vec::new());
        }
        let servers = infer::servers(estate, &sides.scope, service, &[]);
        sources = inferred(infer::callers(estate, &sides.scope, &servers, service));
        destinations = inferred(servers);
    } else if destinations.is_empty() {
        if outward {
            destinations = vec![Side::Internet];
        } else if service.port.is_some() {
            destinations = inferred(infer::servers(estate, &sides.scope, service, &places(&sources)));
        } else {
            return (outgoing(service, &sources, sides, estate), Vec::new());
        }
    } else if sources.is_empty() {
        let servers = places(&destinations);
        if service.port.is_none() && service.protocol != Protocol::Icmp {
            let served = infer::services(estate, &servers);
            if !served.is_empty() {
                return (incoming(&served, &destinations, sides, estate), Vec::new());
            }
        }
        sources = inferred(infer::callers(estate, &sides.scope, &servers, service));
    }
    if sources.is_empty()
        && !destinations.is_empty()
        && places(&destinations).iter().all(|at| estate.role(*at).is_some())
    {
        sources = vec![Side::Internet];
    }
    pair(&sources, &destinations, service, estate)
}

/// Returns the ends that are called on a port: where it is glued to some, those alone.
fn with_port(service: Service, sides: &Sides) -> Vec<Side> {
    let bound = |side: &Side| {
        sides.bound.iter().filter(|(known, _)| known == side).map(|(_, port)| *port).collect::<Vec<u16>>()
    };
    let own = |side: &&Side| service.port.is_some_and(|port| bound(side).contains(&port));
    let exact: Vec<Side> = sides.destinations.iter().filter(own).cloned().collect();
    let free: Vec<Side> = sides.destinations.iter().filter(|side| bound(side).is_empty()).cloned().collect();
    if !exact.is_empty() {
        exact
    } else if !free.is_empty() && service.port.is_some() {
        free
    } else {
        sides.destinations.clone()
    }
}

/// Returns the flows between all ends of two sides, turned around where the port says so.
fn pair(
    sources: &[Side],
    destinations: &[Side],
    service: Service,
    estate: &Estate<'_>,
) -> (Vec<ComplaintFlow>, Vec<ComplaintFlow>) {
    let (mut flows, mut written) = (Vec::new(), Vec::new());
    let turned = service.port.is_some()
        && !sources.is_empty()
        && sources.iter().all(|source| {
            !destinations.is_empty()
                && destinations.iter().all(|destination| match (source.machine(), destination.machine()) {
                    (Some(one), Some(other)) if one != other => {
                        let server = infer::serves(estate, other, one, service);
                        server <= 0
                            && infer::serves(estate, one, other, service) > 1
                            && infer::who_serves(estate, one, other, service) > 2
                    }
                    _ => false,
                })
        });
    for source in sources {
        for destination in destinations {
            if source.machine().is_some() && source.machine() == destination.machine() {
                continue;
            }
            let (said, meant) =
                ((source, destination), if turned { (destination, source) } else { (source, destination) });
            flows.extend(flow(meant.0, meant.1, service, estate));
            if turned {
                written.extend(flow(said.0, said.1, service, estate));
            }
        }
    }
    (flows, written)
}

fn flow(source: &Side, destination: &Side, service: Service, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    let Some(from) = end(source, estate) else { return Vec::new() };
    let Service { protocol, port } = service;
    let Side::Frontend(at) = destination else {
        let to = end(destination, estate);
        return to
            .into_iter()
            .map(|to| ComplaintFlow { source: from.clone(), destination: to, protocol, port })
            .collect();
    };
    let Some(name) = estate.inventory.names.get(*at) else { return Vec::new() };
    let owner = |address: IpAddr, basis: Basis| match estate.inventory.owner(address) {
        Some(machine) => End::Machine { name: machine.name.clone(), address, basis },
        None => End::Address(address),
    };
    let behind = name.backends.iter().filter(|backend| port.is_none_or(|port| port == backend.port));
    let mut found: Vec<ComplaintFlow> = behind
        .map(|backend| ComplaintFlow {
            source: from.clone(),
            destination: owner(backend.address, Basis::Backend),
            protocol,
            port: port.map(|_| backend.backend_port),
        })
        .collect();
    if found.is_empty() {
        let to = name.addresses.iter().map(|address| owner(*address, Basis::Named));
        found.extend(to.map(|to| ComplaintFlow { source: from.clone(), destination: to, protocol, port }));
    }
    found
}

fn end(side: &Side, estate: &Estate<'_>) -> Option<End> {
    match side {
        Side::Machine(at, address, basis) => {
            let machine = estate.machine(*at)?;
            let inside = address.filter(|address| machine.addresses.contains(address));
            let address = inside.or_else(|| machine.addresses.first().copied()).or(*address)?;
            Some(End::Machine { name: machine.name.clone(), address, basis: *basis })
        }
        Side::Frontend(at) => {
            let address = *estate.inventory.names.get(*at)?.addresses.first()?;
            Some(match estate.inventory.owner(address) {
                Some(machine) => End::Machine { name: machine.name.clone(), address, basis: Basis::Named },
                None => End::Address(address),
            })
        }
        Side::Outside(address) => Some(End::Address(*address)),
        Side::Internet => Some(End::Internet),
        Side::Nobody => None,
    }
}

/// Nothing is named but an application: everything that its tiers serve each other.
fn whole(service: Service, sides: &Sides, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    let scope = if !sides.scope.is_empty() {
        sides.scope.clone()
    } else if estate.applications().len() < 2 {
        estate.all()
    } else {
        return Vec::new();
    };
    if service.protocol == Protocol::Icmp {
        return Vec::new();
    }
    let served = infer::services(estate, &scope);
    let inside = Sides { scope, ..Sides::default() };
    incoming(&served, &[], &inside, estate)
}

/// Returns the flows of those who call what is served.
fn incoming(
    served: &[(Service, Vec<usize>)],
    destinations: &[Side],
    sides: &Sides,
    estate: &Estate<'_>,
) -> Vec<ComplaintFlow> {
    let mut found = Vec::new();
    for (service, servers) in served {
        let callers = infer::callers(estate, &sides.scope, servers, *service);
        let sources: Vec<Side> =
            callers.into_iter().map(|at| Side::Machine(at, None, Basis::Inferred)).collect();
        let named: Vec<Side> = destinations
            .iter()
            .filter(|side| side.machine().is_some_and(|at| servers.contains(&at)))
            .cloned()
            .collect();
        let own: Vec<Side> = if named.is_empty() {
            servers.iter().map(|at| Side::Machine(*at, None, Basis::Inferred)).collect()
        } else {
            named
        };
        found.extend(pair(&sources, &own, *service, estate).0);
    }
    found
}

/// One caller, and nothing about whom it calls: everything that is served to it.
fn outgoing(service: Service, sources: &[Side], sides: &Sides, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    if service.protocol == Protocol::Icmp {
        return Vec::new();
    }
    let callers: Vec<usize> = sources.iter().filter_map(Side::machine).collect();
    let scope = if sides.scope.is_empty() { estate.all() } else { sides.scope.clone() };
    let mut found = Vec::new();
    for (service, servers) in infer::services(estate, &scope) {
        let servers: Vec<usize> = servers.into_iter().filter(|at| !callers.contains(at)).collect();
        let usual = infer::callers(estate, &sides.scope, &servers, service);
        let own: Vec<Side> = sources
            .iter()
            .filter(|side| side.machine().is_some_and(|at| usual.contains(&at)))
            .cloned()
            .collect();
        let to: Vec<Side> = servers.iter().map(|at| Side::Machine(*at, None, Basis::Inferred)).collect();
        found.extend(pair(&own, &to, service, estate).0);
    }
    found
}

/// Returns the names of the machines of a complaint, each once: those that it names, then those of its flows.
fn machines(sides: &Sides, flows: &[ComplaintFlow], estate: &Estate<'_>) -> Vec<String> {
    let all = sides.sources.iter().chain(&sides.destinations).chain(&sides.about);
    let mut found = names(all.filter_map(Side::machine).collect(), estate);
    for name in flows.iter().flat_map(|flow| [flow.source.machine(), flow.destination.machine()]).flatten() {
        if !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn names(machines: Vec<usize>, estate: &Estate<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for machine in machines.into_iter().filter_map(|at| estate.machine(at)) {
        if !found.contains(&machine.name) {
            found.push(machine.name.clone());
        }
    }
    found
}

/// A baseline that is named asks for what changed since, whatever else is asked.
fn with_drift(message: &Message, estate: &Estate<'_>, found: &mut Vec<Complaint>) {
    if message.baselines.is_empty() || found.iter().any(|complaint| complaint.kind == Kind::Drift) {
        return;
    }
    let mut machines: Vec<String> = Vec::new();
    for name in found.iter().flat_map(|complaint| &complaint.machines) {
        if !machines.contains(name) {
            machines.push(name.clone());
        }
    }
    if machines.is_empty() {
        machines = names(estate.all(), estate);
    }
    let says = |text: &str| message.baselines.iter().any(|name| text.contains(name.as_str()));
    let texts: Vec<&str> =
        message.clauses.iter().map(|clause| clause.text.as_str()).filter(|text| says(text)).collect();
    found.push(Complaint {
        text: texts.join(" "),
        kind: Kind::Drift,
        symptoms: [Symptom::NothingChanged].into(),
        is_doubtful: true,
        flows: Vec::new(),
        machines,
        ports: Vec::new(),
        accounts: Vec::new(),
        unknown: Vec::new(),
        control: Vec::new(),
        correction: None,
    });
}
