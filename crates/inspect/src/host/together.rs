//! What only shows where several machines are read: twins, and ends of tunnels that differ.

use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::link::Link;
use super::model::Host;
use super::network::Network;
use super::object::Object;

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);

/// Finds what machines do not agree about.
pub(super) fn check(network: &Network<'_>) -> Vec<Finding> {
    let mut found = addresses(network);
    found.extend(hardware(network));
    found.extend(tunnels(network));
    found
}

/// A virtual address of VRRP has such a hardware address, and moves on purpose.
fn is_shared(mac: &str) -> bool {
    mac.starts_with("00:00:5e:00:01:") || mac.starts_with("00:00:5e:00:02:")
}

fn addresses(network: &Network<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, host) in network.hosts.iter().enumerate() {
        for own in host.global().filter(|own| !own.is_duplicate) {
            let plain = |host: &Host, device: &str| {
                let kind = host.link(device).and_then(Link::kind).map(str::to_owned);
                // A bridge without a card below it is the machine's own: docker's is the same everywhere.
                let own_bridge = kind.as_deref() == Some("bridge")
                    && !host
                        .links
                        .rows()
                        .iter()
                        .any(|link| link.master.as_deref() == Some(device) && link.kind().is_none());
                !own_bridge && !host.link(device).is_some_and(|link| is_shared(&link.address))
            };
            let others = network.hosts.iter().skip(at + 1).filter(|other| !host.is_same_machine(other));
            let twins = others.filter_map(|other| {
                let twin = other.global().find(|twin| {
                    twin.ip() == own.ip() && twin.net.trunc().contains(&own.net.trunc().addr())
                })?;
                (plain(host, &own.device) && plain(other, &twin.device)).then_some((other, twin))
            });
            for (other, twin) in twins.filter(|(_, twin)| twin.net.prefix_len() < twin.net.max_prefix_len()) {
                let proof = (host.name.as_str(), Part::Addresses, format!("{} {}", own.device, own.net));
                let one = Finding::new(
                    SURE,
                    Fault::DuplicateAddress,
                    Object::Host { what: own.ip().to_string() },
                    proof,
                );
                found.push(one.and(&other.name, Part::Addresses, format!("{} {}", twin.device, twin.net)));
            }
        }
    }
    found
}

fn hardware(network: &Network<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let cards = |host: &Host| -> Vec<Link> {
        let real = |link: &&Link| {
            link.link_type == "ether" && link.is_up() && !is_shared(&link.address) && link.master.is_none()
        };
        host.links.rows().iter().filter(real).cloned().collect()
    };
    for (at, host) in network.hosts.iter().enumerate() {
        for link in cards(host) {
            for other in network.hosts.iter().skip(at + 1).filter(|other| !host.is_same_machine(other)) {
                let Some(twin) = cards(other).into_iter().find(|twin| twin.address == link.address) else {
                    continue;
                };
                // Only on one segment do they disturb each other.
                let near = host.global().filter(|own| own.device == link.name).any(|own| {
                    other.global().any(|there| there.device == twin.name && own.net.contains(&there.ip()))
                });
                if !near {
                    continue;
                }
                let proof = (host.name.as_str(), Part::Links, format!("{} {}", link.name, link.address));
                let one = Finding::new(
                    SURE,
                    Fault::DuplicateMac,
                    Object::Host { what: link.address.clone() },
                    proof,
                );
                found.push(one.and(&other.name, Part::Links, format!("{} {}", twin.name, twin.address)));
            }
        }
    }
    found
}

fn tunnels(network: &Network<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in network.hosts {
        for link in host.links.rows().iter().filter(|link| link.kind() == Some("vxlan")) {
            let Some(remote) = link.place("remote") else { continue };
            let ends = network.owners(remote).into_iter().filter(|(other, _)| other.name != host.name);
            for (other, _) in ends {
                let back = other.links.rows().iter().filter(|end| {
                    end.kind() == Some("vxlan")
                        && end.place("remote").is_some_and(|ip| host.owns(ip).is_yes())
                });
                let back: Vec<&Link> = back.collect();
                let same = |end: &&&Link| {
                    end.setting("id") == link.setting("id") && end.setting("port") == link.setting("port")
                };
                if back.is_empty() || back.iter().any(|end| same(&end)) {
                    continue;
                }
                let shown = |link: &Link| {
                    format!(
                        "{}: vxlan id {} port {}",
                        link.name,
                        link.setting("id").unwrap_or(0),
                        link.setting("port").unwrap_or(0)
                    )
                };
                let object = Object::Link { host: host.name.clone(), device: link.name.clone() };
                let mut one =
                    Finding::new(SURE, Fault::VniMismatch, object, (&host.name, Part::Links, shown(link)));
                for end in back {
                    one = one.and(&other.name, Part::Links, shown(end));
                }
                found.push(one);
            }
        }
    }
    found
}
