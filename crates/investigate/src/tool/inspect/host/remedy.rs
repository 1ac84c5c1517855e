//! What to do about a fault of a machine, as a sentence, and as a command where one is sure.

use super::object::object;
use crate::judged::JudgedRemedy;
use crate::suspect::plain;
use ghost_inspect::host::{Fault, Finding, Object, Part};

/// Types of routes that throw packets away.
const THROWING: [&str; 4] = ["blackhole", "unreachable", "prohibit", "throw"];

/// Returns what is done about a finding. Nothing of it was tried: whoever shows it asks the gate for the class of its commands.
pub(super) fn remedy(finding: &Finding) -> Option<JudgedRemedy> {
    let own = finding.object.host().or_else(|| server(finding));
    let host = own.or_else(|| finding.evidence.first().map(|one| one.host.as_str()))?;
    let host = plain(host);
    // What is said of a fault in general names examples, and an example has no class of its own.
    let general = |text: &str| text.replace('`', "");
    let (commands, look, risk) = match command(finding) {
        Some((command, look, undo)) => (vec![command], format!("`{look}` on {host}"), undo),
        None => {
            let look = format!("what shows it: {}", general(finding.fault.text().evidence));
            (
                Vec::new(),
                look,
                "none from looking; whoever owns the machine knows what else uses it.".to_owned(),
            )
        }
    };
    Some(JudgedRemedy {
        fault: finding.fault.to_string(),
        object: object(finding),
        what: format!("On {host}: {}.", general(finding.remedy())),
        look,
        commands,
        effect: String::new(),
        risk,
    })
}

/// Returns the machine that gives addresses away, where it was read: what it gave to others is set right there.
fn server(finding: &Finding) -> Option<&str> {
    let is_there = |part: Part| matches!(part, Part::DhcpServer | Part::Listeners);
    let own = finding.evidence.iter().find(|one| is_there(one.part));
    own.filter(|_| matches!(finding.object, Object::Dhcp { .. })).map(|one| one.host.as_str())
}

/// Returns the command on the machine itself, what to look at before, and how it is undone; nothing where a name cannot stand in a
/// command, or where only its owner knows what is right.
fn command(finding: &Finding) -> Option<(String, String, String)> {
    let set = |key: &str, value: &str| {
        is_word(key).then(|| {
            let pair =
                if value.contains(' ') { format!("'{key}={value}'") } else { format!("{key}={value}") };
            (
                format!("sudo sysctl -w {pair}"),
                format!("sysctl {key}"),
                "it holds until the next boot; the value that stands there now puts it back.".to_owned(),
            )
        })
    };
    match (finding.fault, &finding.object) {
        (Fault::LinkDown, Object::Link { device, .. }) if is_word(device) => Some((
            format!("sudo ip link set dev {device} up"),
            format!("ip -br link show dev {device}"),
            format!("whoever set it down may have meant it. `sudo ip link set dev {device} down` undoes it."),
        )),
        (
            Fault::RateLimit
            | Fault::NetemLoss
            | Fault::NetemDelay
            | Fault::NetemCorrupt
            | Fault::NetemDuplicate
            | Fault::NetemReorder,
            Object::Qdisc { device, .. },
        ) if is_word(device) => Some((
            format!("sudo tc qdisc del dev {device} root"),
            format!("tc -s qdisc show dev {device}"),
            "a limit that was meant is gone; what the look printed puts it back.".to_owned(),
        )),
        (Fault::BridgePort, Object::Link { device, .. }) if is_word(device) => Some((
            format!("sudo bridge link set dev {device} isolated off"),
            format!("bridge -d link show dev {device}"),
            format!("`sudo bridge link set dev {device} isolated on` undoes it."),
        )),
        (Fault::PolicyRule, Object::Rule { priority, .. }) => Some((
            format!("sudo ip rule del priority {priority}"),
            "ip rule show".to_owned(),
            "what the rule was for goes by the main table; what the look printed puts it back.".to_owned(),
        )),
        (Fault::StaticBlackhole, Object::Route { prefix, .. }) if is_word(prefix) => {
            let words = finding.evidence.iter().flat_map(|one| one.shows.split_whitespace());
            let kind = words.into_iter().find(|word| THROWING.contains(word))?;
            Some((
                format!("sudo ip route del {kind} {prefix}"),
                format!("ip route show type {kind}"),
                format!(
                    "what the route kept off passes again. `sudo ip route add {kind} {prefix}` undoes it."
                ),
            ))
        }
        (Fault::NeighborPoisoned, Object::Neighbor { ip, .. }) => {
            let shows = finding.evidence.iter().find_map(|one| one.shows.split_once(" dev "))?.1;
            let device = shows.split_whitespace().next().filter(|device| is_word(device))?;
            Some((
                format!("sudo ip neigh del {ip} dev {device}"),
                format!("ip neigh show {ip}"),
                "none: the machine asks for the address anew.".to_owned(),
            ))
        }
        (Fault::UnitFailed, Object::Unit { unit, .. }) if is_word(unit) => Some((
            format!("sudo systemctl restart {unit}"),
            format!("systemctl status --no-pager {unit}"),
            "whoever uses the service waits while it starts.".to_owned(),
        )),
        (Fault::RoutingDaemonDown, Object::Unit { unit, .. }) if is_word(unit) => Some((
            format!("sudo systemctl restart {unit}"),
            "vtysh -c 'show daemons'".to_owned(),
            "routes are learned anew, and whoever uses them waits so long.".to_owned(),
        )),
        (Fault::IpForwardOff, Object::Sysctl { key, .. }) => set(key, "1"),
        (Fault::RpFilterDrop, Object::Sysctl { key, .. }) => set(key, "2"),
        (Fault::Ipv6Disabled, Object::Sysctl { key, .. }) => set(key, "0"),
        (Fault::ReceiveWindow, Object::Sysctl { key, .. }) => set(key, "4096 131072 6291456"),
        (Fault::PortRangeExhausted, Object::Sysctl { key, .. }) => set(key, "32768 60999"),
        (Fault::SynFlood, _) => set("net.ipv4.tcp_syncookies", "1"),
        (_, _) => None,
    }
}

/// Tells whether a name means the same in a command as it does in a document.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-@:/".contains(char))
}
