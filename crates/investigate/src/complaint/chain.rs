//! `A -> B:8080 -> C:5432`: a chain of flows, each judged by itself, and all of them one complaint.

use super::mention::{Mark, Mention, What};
use super::scope::Estate;
use super::side::is_appliance;
use super::statement::{Port, Statement};
use super::{Complaint, infer};

/// Cuts a statement into its hops; whatever is no chain stays whole. An appliance is passed, and no end.
pub(super) fn hops(statement: &Statement, estate: &Estate<'_>) -> Vec<Statement> {
    let is_end = |mention: &&Mention| {
        matches!(mention.mark, Mark::From | Mark::Hop | Mark::To) && !is_appliance(mention, estate)
    };
    let ends: Vec<&Mention> = statement.mentions.iter().filter(is_end).collect();
    let pairs = pairs(&ends);
    if pairs.is_empty() {
        return vec![statement.clone()];
    }
    let mut ports: Vec<Vec<Port>> = pairs.iter().map(|(_, server)| glued(statement, server)).collect();
    let free = statement.ports.iter().filter(|port| !port.is_bound);
    for port in free {
        // A port that stands for all of them is that of the hop whose server serves it.
        let serves = |(_, server): &(&Mention, &Mention)| {
            members(server, estate).iter().any(|at| infer::serves(estate, *at, *at, port.service) > 0)
        };
        let at = pairs.iter().position(serves).unwrap_or(pairs.len().saturating_sub(1));
        if let Some(own) = ports.get_mut(at) {
            own.push(*port);
        }
    }
    let is_named = ports.iter().any(|own| !own.is_empty());
    let is_free = statement.ports.iter().any(|port| !port.is_bound);
    let hop = |((caller, server), ports): ((&Mention, &Mention), Vec<Port>)| {
        let caller = Mention { mark: Mark::From, port: None, is_joined: false, ..caller.clone() };
        let server = Mention { mark: Mark::To, is_joined: false, ..server.clone() };
        // Where a port stands for one hop, the others are not what is complained about.
        (!(is_free && is_named && ports.is_empty())).then(|| {
            let mut own = statement.clone();
            (own.mentions, own.ports) = (vec![caller, server], ports);
            own
        })
    };
    pairs.into_iter().zip(ports).filter_map(hop).collect()
}

/// Returns the ends of each hop: `A -> B -> C`, or `A -> B, C -> D`. Whoever calls the first of them may be nobody here.
fn pairs<'a>(ends: &[&'a Mention]) -> Vec<(&'a Mention, &'a Mention)> {
    let marks: Vec<Mark> = ends.iter().map(|mention| mention.mark).collect();
    match marks.as_slice() {
        [Mark::From | Mark::Hop, middle @ .., Mark::To] if middle.iter().all(|mark| *mark == Mark::Hop) => {
            let is_plain = middle.is_empty() && marks.first() == Some(&Mark::From);
            let pairs = ends.iter().copied().zip(ends.iter().copied().skip(1));
            if is_plain { Vec::new() } else { pairs.collect() }
        }
        [Mark::From, Mark::To, rest @ ..]
            if !rest.is_empty() && rest.chunks(2).all(|pair| *pair == [Mark::From, Mark::To]) =>
        {
            ends.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds what was made of one hop to the complaint of the whole chain.
pub(super) fn join(whole: &mut Option<Complaint>, hop: Complaint) {
    let Some(whole) = whole else {
        *whole = Some(hop);
        return;
    };
    fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
        for one in more {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    add(&mut whole.flows, hop.flows);
    add(&mut whole.machines, hop.machines);
    add(&mut whole.ports, hop.ports);
    add(&mut whole.unknown, hop.unknown);
    whole.correction = whole.correction.take().or(hop.correction);
}

/// Returns the port that is glued to an end, or stands behind it.
fn glued(statement: &Statement, server: &Mention) -> Vec<Port> {
    statement.ports.iter().filter(|port| port.is_bound && server.port == port.service.port).copied().collect()
}

fn members(mention: &Mention, estate: &Estate<'_>) -> Vec<usize> {
    match &mention.what {
        What::Machines(all, _) => all.clone(),
        What::Role(role, _) => estate.of_role(role),
        What::Name(_) | What::Outside(_) | What::Internet | What::NoOwner(_) | What::Unknown(_) => Vec::new(),
    }
}
