//! Names of objects and sentences, as facts may hold them: what a machine said is text of the outside.

use crate::finding::Fault;
use crate::suspect::plain;
use crate::tool::inspect::path::sentence;
use ghost_inspect::host::{Fault as HostFault, Finding, Object};

/// Names the object of a finding: a part that could break out of it becomes plain.
pub(super) fn object(finding: &Finding) -> String {
    let parts = |all: &[&str]| all.iter().map(|part| plain(part)).collect::<Vec<_>>().join("/");
    match &finding.object {
        Object::Link { host, device } => parts(&["link", host, device]),
        Object::Address { host, device } => parts(&["address", host, device]),
        Object::Neighbor { host, ip } => format!("{}/{ip}", parts(&["neighbour", host])),
        Object::Route { host, prefix } => {
            let prefix: Vec<String> = prefix.split('/').map(plain).collect();
            format!("{}/{}", parts(&["route", host]), prefix.join("/"))
        }
        Object::Rule { host, priority } => format!("{}/{priority}", parts(&["rule", host])),
        Object::Sysctl { host, key } => parts(&["sysctl", host, key]),
        Object::Qdisc { host, device } => parts(&["qdisc", host, device]),
        Object::Chain { host, table, chain } => parts(&["netfilter", host, table, chain]),
        Object::FilterRule { host, table, chain, protocol, port } => {
            parts(&["netfilter", host, table, chain, protocol, port])
        }
        // The code is the cloud's as well, and so is the name of its object.
        Object::Service { host, protocol, port } if finding.fault == HostFault::NotListening => {
            format!("{}/{port}", parts(&["listener", host, protocol]))
        }
        Object::Service { host, protocol, port } => format!("{}/{port}", parts(&["service", host, protocol])),
        Object::Unit { host, unit } => parts(&["service", host, unit]),
        Object::Bgp { host, what } => {
            let what: Vec<String> = what.split('/').map(plain).collect();
            format!("{}/{}", parts(&["bgp", host]), what.join("/"))
        }
        Object::Ospf { host, device } => parts(&["ospf", host, device]),
        Object::Resolver { host, what } => parts(&["resolver", host, what]),
        Object::Dns { server, name } => match name {
            Some(name) => format!("dns/{server}/{}", plain(name)),
            None => format!("dns/{server}"),
        },
        Object::Dhcp { server, what } => {
            let what: Vec<String> = what.iter().flat_map(|what| what.split('/')).map(plain).collect();
            format!("dhcp/{server}{}", what.iter().map(|part| format!("/{part}")).collect::<String>())
        }
        Object::Host { what } => parts(&["host", what]),
        Object::Flow { src, dst, protocol, port } => {
            let port = port.map_or_else(|| "any".to_owned(), |port| port.to_string());
            format!("flow/{src}/{dst}/{}/{port}", plain(protocol))
        }
    }
}

/// Says what shows it, in a sentence.
pub(super) fn why(finding: &Finding, object: &str) -> String {
    let title = Fault::of_host(finding.fault).title(object);
    let shown =
        finding.evidence.iter().map(|one| format!("{} ({}: {})", one.shows, plain(&one.host), one.part));
    sentence(&format!("{title}: {}", shown.collect::<Vec<_>>().join("; ")))
}

/// Tells whether a machine has to do with a finding.
pub(super) fn is_of(finding: &Finding, machines: &[String]) -> bool {
    let own = finding.object.host().into_iter().chain(finding.evidence.iter().map(|one| one.host.as_str()));
    own.into_iter().any(|host| machines.iter().any(|name| name == host))
}
