//! The ends of a statement: who calls, who is called, and what is taken from what was said before.

use std::net::IpAddr;

use super::mention::{Mark, Mention, What};
use super::scope::Estate;
use super::statement::Statement;
use super::{Basis, Protocol, Service, UnknownEnd, infer};
use crate::symptom_text::Symptom;

/// The ends of a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Sides {
    pub(super) sources: Vec<Side>,
    pub(super) destinations: Vec<Side>,
    /// Machines that it is about where nothing says whether they call.
    pub(super) about: Vec<Side>,
    pub(super) scope: Vec<usize>,
    pub(super) unknown: Vec<UnknownEnd>,
    /// The words say who calls.
    pub(super) is_marked: bool,
    pub(super) services: Vec<Service>,
    /// Ends with the port that is glued to them.
    pub(super) bound: Vec<(Side, u16)>,
    /// Ends with a port right behind them.
    pub(super) beside: Vec<Side>,
}

/// One end, as an answer to "who".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    Machine(usize, Option<IpAddr>, Basis),
    /// A frontend, by its place in the inventory.
    Frontend(usize),
    Outside(IpAddr),
    Internet,
    /// Named, and not here: nobody is judged in its place.
    Nobody,
}

impl Side {
    pub(super) fn machine(&self) -> Option<usize> {
        match self {
            Self::Machine(at, ..) => Some(*at),
            Self::Frontend(_) | Self::Outside(_) | Self::Internet | Self::Nobody => None,
        }
    }
}

/// Reads the ends of a statement.
pub(super) fn sides(statement: &Statement, estate: &Estate<'_>, before: &Sides) -> Sides {
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
    // `A behind the appliance cannot reach B`: where two others are named, it is on the path.
    let ends = statement
        .mentions
        .iter()
        .filter(|mention| mention.mark != Mark::Via && !is_role(mention) && !is_appliance(mention, estate))
        .count();
    let unchanged = statement
        .mentions
        .iter()
        .filter(|mention| !mention.is_changed && mention.mark != Mark::Via && !is_role(mention))
        .count();
    let mut last_kept = false;
    for mention in &statement.mentions {
        // What is on the path only is no end, unless it is all there is.
        let passes = (matches!(mention.mark, Mark::Via | Mark::Hop)
            && (!only || is_appliance(mention, estate)))
            || (ends > 1 && is_between(mention, estate))
            || (mention.is_changed && unchanged > 1);
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
        if mention.has_port_behind {
            sides.beside.extend(members.iter().cloned());
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

fn is_between(mention: &Mention, estate: &Estate<'_>) -> bool {
    is_appliance(mention, estate) && mention.port.is_none() && !mention.is_joined
}

pub(super) fn is_appliance(mention: &Mention, estate: &Estate<'_>) -> bool {
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
            // `connect to mysql`: of the databases of several applications, those of which one serves the port.
            let serves = |at: &usize| {
                let machine = estate.machine(*at);
                let mut ports = sides.services.iter().filter_map(|service| service.port);
                machine.is_some_and(|machine| ports.any(|port| machine.listens(port) == Some(true)))
            };
            let serving = estate.tiers(&kept.iter().copied().filter(serves).collect::<Vec<usize>>());
            let kept = if mention.mark == Mark::To && !serving.is_empty() {
                kept.into_iter().filter(|at| serving.contains(at)).collect()
            } else {
                kept
            };
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
            let nearest = estate.nearest(label);
            // A name of the Internet is looked for there, one of a private zone nowhere.
            let zone = name.rsplit('.').next().unwrap_or_default();
            let private =
                ["internal", "local", "lan", "corp", "intern", "home", "svc", "localdomain", "private"];
            let is_public = name.contains('.')
                && !estate.is_like(label)
                && (2..=6).contains(&zone.len())
                && zone.bytes().all(|byte| byte.is_ascii_alphabetic())
                && !name.split('.').any(|label| private.contains(&label));
            sides.unknown.push(UnknownEnd::Name { name: name.clone(), nearest, is_public });
            vec![if is_public { Side::Internet } else { Side::Nobody }]
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
    sides.is_marked = groups.iter().any(|(mark, _)| matches!(mark, Mark::From | Mark::To));
    if let ([(_, first), (_, second)], true) = (groups.as_slice(), statement.is_turned) {
        (sides.sources, sides.destinations) = (second.clone(), first.clone());
        return;
    }
    // `the same for A and B on 3306`
    if let [(Mark::From, only)] = groups.as_slice()
        && let Some((caller, server)) = caller_and_server(only, estate, &sides.services)
    {
        (sides.sources, sides.destinations) = (vec![caller], vec![server]);
        return;
    }
    let has = |mark: Mark| groups.iter().any(|(known, _)| *known == mark);
    let of_count = groups.iter().filter(|(mark, _)| *mark == Mark::Of).count();
    let mut with_seen = false;
    let mut of_seen = 0;
    let mut open: Vec<Vec<Side>> = Vec::new();
    let to_named = has(Mark::To);
    // "On A …, at B …": the one that serves the port, or the last one.
    let only_at = count > 1 && groups.iter().all(|(mark, _)| *mark == Mark::At);
    let score = |group: &[Side]| {
        let score = |at: usize| {
            sides
                .services
                .iter()
                .map(|service| infer::serves(estate, at, at, *service))
                .max()
                .unwrap_or_default()
        };
        group.iter().filter_map(Side::machine).map(score).max().unwrap_or_default()
    };
    let serving = |group: &[Side]| score(group) > 0;
    // "ssh A, then telnet B 5432": of two that are called, the one that serves nothing calls.
    let has_port = |group: &[Side]| {
        group.iter().any(|side| sides.bound.iter().any(|(known, _)| known == side)) || serving(group)
    };
    // "A reports a reset from B:5432": of two that it comes from, the one with the port serves.
    let echo = count > 1
        && groups.iter().all(|(mark, _)| *mark == Mark::From)
        && groups.iter().filter(|(_, group)| has_port(group)).count() == 1;
    let hop = count > 1
        && groups.iter().all(|(mark, _)| *mark == Mark::To)
        && groups.iter().filter(|(_, group)| has_port(group)).count() == count - 1;
    let scores = || groups.iter().map(|(_, group)| score(group));
    let (first, best) = (scores().next().unwrap_or_default(), scores().skip(1).max().unwrap_or_default());
    let both_serve = only_at && first > 0 && first == best;
    let turns = only_at && first > best;
    // "connection to server at B, port 5432 failed [host A]"
    let called = |group: &[Side]| group.iter().any(|side| sides.beside.contains(side));
    let callees: Vec<usize> =
        groups.iter().enumerate().filter(|(_, (_, group))| called(group)).map(|(at, _)| at).collect();
    let callee = callees.first().copied().filter(|_| only_at && count == 2 && callees.len() == 1);
    let caller = match callee {
        Some(callee) => 1 - callee,
        None if turns => count.saturating_sub(1),
        None => 0,
    };
    let both_serve = both_serve && callee.is_none();
    let from_named = has(Mark::From);
    for (at, (mark, group)) in groups.iter().cloned().enumerate() {
        match mark {
            Mark::From if echo && has_port(&group) => sides.destinations.extend(group),
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
                    || (of_count == 1 && (has(Mark::At) || !open.is_empty()))
                {
                    sides.sources.extend(group);
                } else if of_count > 1 {
                    sides.destinations.extend(group);
                } else {
                    open.push(group);
                }
            }
            Mark::At if from_named || (count > 1 && !to_named) => sides.destinations.extend(group),
            Mark::At | Mark::Between | Mark::Open | Mark::With | Mark::Hop | Mark::Via => open.push(group),
        }
    }
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

/// Of two, the one that calls and the one that serves the port, where only one of them serves it.
fn caller_and_server(only: &[Side], estate: &Estate<'_>, services: &[Service]) -> Option<(Side, Side)> {
    let ([one, other], [service]) = (only, services) else { return None };
    let (first, second) = (one.machine()?, other.machine()?);
    let (one_serves, other_serves) =
        (infer::serves(estate, first, second, *service), infer::serves(estate, second, first, *service));
    if one_serves > 1 && other_serves < 1 {
        return Some((other.clone(), one.clone()));
    }
    (other_serves > 1 && one_serves < 1).then(|| (one.clone(), other.clone()))
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
    // "9200 between A and B", "capture on both A and B": a pair, whoever of the two calls.
    let text = super::fold::fold(&statement.texts.join(" "));
    let words = &super::vocabulary::WORDS;
    let is_pair = words.direction.between.are_in(&text) || words.capture.both_ends.are_in(&text);
    if let [one, other] = only.as_slice()
        && is_pair
        && let (Some(first), Some(second)) = (one.machine(), other.machine())
    {
        let by_port: i32 =
            sides.services.iter().map(|service| infer::who_serves(estate, first, second, *service)).sum();
        let first_serves = by_port > 0 || (by_port == 0 && infer::is_called_by(estate, first, second));
        let (caller, server) = if first_serves { (other, one) } else { (one, other) };
        (sides.sources, sides.destinations) = (vec![caller.clone()], vec![server.clone()]);
        return;
    }
    // "A and B cannot talk on 5432": one of them serves it.
    if let Some((caller, server)) = caller_and_server(&only, estate, &sides.services) {
        (sides.sources, sides.destinations) = (vec![caller], vec![server]);
        return;
    }
    // "the web servers return 504": what they call does not answer them.
    let answers_for_others = only
        .iter()
        .all(|side| side.machine().is_some_and(|at| matches!(estate.role(at), Some("web" | "proxy"))));
    if answers_for_others
        && sides.services.is_empty()
        && ["502", "504"].iter().any(|code| text.contains(code))
    {
        sides.sources = only;
        return;
    }
    let serves = |side: &Side, service: &Service| {
        let Some(at) = side.machine() else { return true };
        let others = infer::servers(estate, &sides.scope, *service, &[]);
        // Every machine is managed: that another one is, too, says nothing.
        let is_managed = service.port.is_some_and(|port| infer::MANAGEMENT.contains(&port));
        is_managed || infer::serves(estate, at, at, *service) > 0 || others.iter().all(|other| *other == at)
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
