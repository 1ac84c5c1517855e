//! How machines find names, and what is wrong with that.

use std::net::IpAddr;

use super::context::{Expected, Flow, Protocol};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::resolver::{AnswerKind, ServerAnswer};
use super::walk::{self, Start};

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);
const DEGRADED: (Weight, Certainty) = (Weight::Degraded, Certainty::Confirmed);

/// A server that takes longer than this is slow.
const SLOW_MILLISECONDS: u64 = 400;

/// Finds what is wrong with names.
pub(super) fn check(network: &Network<'_>) -> Vec<Finding> {
    network.hosts.iter().flat_map(|host| of_host(network, host)).collect()
}

fn of_host(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(resolver) = host.resolver.read() else { return found };
    let resolver_object = |what: &str| Object::Resolver { host: host.name.clone(), what: what.to_owned() };
    let uses_names = network
        .context
        .expected
        .iter()
        .any(|one| matches!(one, Expected::Resolver { host: own } if *own == host.name));
    if resolver.servers.is_empty() {
        let how = if uses_names { SURE } else { (Weight::Noticed, Certainty::Confirmed) };
        found.push(Finding::new(
            how,
            Fault::NoResolver,
            resolver_object("none"),
            (&host.name, Part::Resolver, "no nameserver line"),
        ));
    }
    for expected in &network.context.expected {
        let Expected::Name { name, ip } = expected else { continue };
        for (own, wrong) in host
            .hosts
            .iter()
            .filter(|(own, wrong)| own == name && wrong != ip && wrong.is_ipv4() == ip.is_ipv4())
        {
            let one = Finding::new(
                SURE,
                Fault::HostsOverride,
                resolver_object(own),
                (&host.name, Part::Hosts, format!("{wrong} {own}")),
            );
            found.push(one.and(&host.name, Part::Answers, format!("{name} is {ip}")));
        }
    }
    for answer in &host.answers {
        found.extend(of_answer(network, host, answer));
    }
    found
}

fn works(answer: &ServerAnswer) -> bool {
    matches!(answer.kind, AnswerKind::Answered(_) | AnswerKind::Status(_))
}

/// A line of the machine's own file leads elsewhere than its name server, and nobody is there.
fn overridden(network: &Network<'_>, host: &Host, answer: &ServerAnswer) -> Vec<Finding> {
    let AnswerKind::Answered(addresses) = &answer.kind else { return Vec::new() };
    let is_known = |one: &Expected| matches!(one, Expected::Name { name, .. } if *name == answer.name);
    if network.context.expected.iter().any(is_known) {
        return Vec::new();
    }
    let fails = |ip: IpAddr| {
        host.probes.iter().any(|probe| probe.address == Some(ip) && probe.is_reached() == Some(false))
    };
    let differs = |ip: IpAddr| {
        addresses.iter().any(|known| known.is_ipv4() == ip.is_ipv4()) && !addresses.contains(&ip)
    };
    let lines = host.hosts.iter().filter(|(name, ip)| *name == answer.name && differs(*ip) && fails(*ip));
    lines
        .map(|(name, ip)| {
            let object = Object::Resolver { host: host.name.clone(), what: name.clone() };
            let line = (host.name.as_str(), Part::Hosts, format!("{ip} {name}"));
            let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            let said = format!("{} says that {name} is {}", answer.server, shown.join(", "));
            Finding::new((Weight::Broken, Certainty::Likely), Fault::HostsOverride, object, line).and(
                &host.name,
                Part::Answers,
                said,
            )
        })
        .collect()
}

fn of_answer(network: &Network<'_>, host: &Host, answer: &ServerAnswer) -> Vec<Finding> {
    let server = answer.server;
    let mut found = Vec::new();
    if let AnswerKind::Answered(addresses) = &answer.kind {
        let right = network.context.expected.iter().find_map(|one| match one {
            Expected::Name { name, ip } if *name == answer.name => Some(*ip),
            Expected::Name { .. }
            | Expected::Address { .. }
            | Expected::Resolver { .. }
            | Expected::DhcpServer { .. } => None,
        });
        if let Some(right) = right.filter(|right| !addresses.is_empty() && !addresses.contains(right)) {
            let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            let object = Object::Dns { server, name: Some(answer.name.clone()) };
            found.push(Finding::new(
                SURE,
                Fault::DnsWrongRecord,
                object,
                (
                    &host.name,
                    Part::Answers,
                    format!("{} is {}; {right} is right", answer.name, shown.join(", ")),
                ),
            ));
        }
    }
    found.extend(overridden(network, host, answer));
    if works(answer) {
        if answer.milliseconds.is_some_and(|time| time >= SLOW_MILLISECONDS) {
            let object = Object::Dns { server, name: None };
            found.push(Finding::new(
                DEGRADED,
                Fault::DnsSlow,
                object,
                (&host.name, Part::Answers, format!("{server} took {} ms", answer.milliseconds.unwrap_or(0))),
            ));
        }
        return found;
    }
    let said = match answer.kind {
        AnswerKind::Refused => "connection refused",
        AnswerKind::Unreachable => "unreachable",
        AnswerKind::Silent | AnswerKind::Answered(_) | AnswerKind::Status(_) => "no answer",
    };
    let over = if answer.over_tcp { " over TCP" } else { "" };
    let proof = (host.name.as_str(), Part::Answers, format!("{server}{over}: {said}"));
    if server.is_loopback() {
        let object = Object::Dns { server, name: None };
        found.push(Finding::new(SURE, Fault::DnsFailure, object, proof));
        return found;
    }
    let owners = network.owners(server);
    // An address that two machines have is said as such: which of them was asked is chance.
    if owners.len() > 1 {
        return found;
    }
    let owner = owners.into_iter().map(|(owner, _)| owner).find(|owner| owner.name != host.name);
    let protocol = if answer.over_tcp { Protocol::Tcp } else { Protocol::Udp };
    let listens = |owner: &Host| {
        owner.listeners.rows().iter().any(|own| own.port == 53 && own.hears(server) && !own.is_local())
    };
    if let Some(owner) = owner.filter(|owner| listens(owner)) {
        // A server is there: something on the path keeps questions or answers.
        found.extend(
            on_the_path(network, host, server, protocol)
                .into_iter()
                .map(|one| one.and(&host.name, Part::Answers, format!("{}: {said}", owner.name))),
        );
        return found;
    }
    let blocked: Vec<Finding> = on_the_path(network, host, server, protocol)
        .into_iter()
        .filter(|one| !matches!(one.fault, Fault::NotListening | Fault::GatewayDead))
        .collect();
    if !blocked.is_empty() {
        return blocked;
    }
    let other = host.answers.iter().any(|one| one.server != server && works(one))
        || network.name_servers().any(|one| one.owns(server).is_no());
    if other {
        let object = Object::Resolver { host: host.name.clone(), what: server.to_string() };
        found.push(Finding::new(SURE, Fault::WrongResolver, object, proof));
    } else {
        let certainty = if owner.is_some() || answer.kind == AnswerKind::Refused {
            Certainty::Confirmed
        } else {
            Certainty::Likely
        };
        let object = Object::Dns { server, name: None };
        found.push(Finding::new((Weight::Broken, certainty), Fault::DnsFailure, object, proof));
    }
    found
}

/// Follows the question to the server and the answer back.
fn on_the_path(network: &Network<'_>, host: &Host, server: IpAddr, protocol: Protocol) -> Vec<Finding> {
    let flow = Flow {
        from: host.name.clone(),
        source: None,
        to: server,
        protocol,
        port: Some(53),
        is_marked: false,
    };
    let start = Start { flow: &flow, is_answer: false, source: None, destination: server, seen: &[] };
    let out = walk::follow(network, host, start);
    let mut found = out.findings.clone();
    let there =
        out.passed.last().filter(|_| out.end == walk::End::Reached).and_then(|last| network.host(&last.host));
    if let (Some(there), Some(back)) = (there, out.seen_as) {
        let start = Start {
            flow: &flow,
            is_answer: true,
            source: Some(server),
            destination: back,
            seen: &out.passed,
        };
        found.extend(walk::follow(network, there, start).findings);
    }
    found
}
