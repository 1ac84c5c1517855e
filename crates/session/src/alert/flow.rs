//! Which machines and flows the labels of an alert name.

use std::collections::{BTreeMap, BTreeSet};

use super::text::line;

/// A longer name is none of a machine.
const MAX_NAME_CHARS: usize = 253;

/// Labels for who begins, the explicit ones first.
const FROM: &[&str] = &[
    "ghostfrom",
    "from",
    "source",
    "src",
    "sourcename",
    "sourcevm",
    "sourcehost",
    "srchost",
    "sourceaddress",
    "sourceip",
    "srcip",
    "client",
    "caller",
];

/// Labels for who is called.
const TO: &[&str] = &[
    "ghostto",
    "to",
    "destination",
    "dst",
    "dest",
    "destinationname",
    "destinationvm",
    "destinationhost",
    "dsthost",
    "desthost",
    "destinationaddress",
    "destinationip",
    "dstip",
    "target",
    "server",
    "upstream",
];

const PORT: &[&str] =
    &["ghostport", "port", "destinationport", "dstport", "destport", "targetport", "serverport"];

const PROTOCOL: &[&str] = &["ghostprotocol", "protocol", "proto", "transport"];

/// Labels for a machine. The port of one is that of whoever watches it, and says nothing.
const MACHINE: &[&str] = &[
    "ghostmachine",
    "instance",
    "host",
    "hostname",
    "vm",
    "vmname",
    "machine",
    "node",
    "nodename",
    "computer",
    "server",
];

/// A flow that an alert names; the names are made of the letters of names alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    pub from: Option<String>,
    pub to: String,
    pub port: Option<u16>,
    pub protocol: Option<&'static str>,
}

/// Finds what labels name. Their keys count without case, `_`, `-`, `.` and blanks.
#[derive(Debug, Default)]
pub(super) struct Found {
    flows: BTreeSet<Flow>,
    machines: BTreeSet<String>,
}

impl Found {
    /// Reads the labels of one alert.
    pub(super) fn add(&mut self, labels: &BTreeMap<String, String>) {
        let plain: BTreeMap<String, &str> =
            labels.iter().map(|(key, value)| (bare(key), value.as_str())).collect();
        let first = |keys: &[&str]| {
            keys.iter().find_map(|key| plain.get(*key).copied().filter(|value| !value.is_empty()))
        };
        let to = first(TO).and_then(end);
        let port = first(PORT).and_then(|port| port.trim().parse().ok()).filter(|port| *port > 0);
        let protocol = first(PROTOCOL).and_then(protocol);
        if let Some((to, own_port)) = to {
            let from = first(FROM).and_then(end).map(|(name, _)| name);
            self.flows.insert(Flow { from, to, port: port.or(own_port), protocol });
        } else if let Some((from, _)) = first(FROM).and_then(end) {
            self.machines.insert(from);
        }
        let machines = MACHINE.iter().filter_map(|key| plain.get(*key)).filter_map(|value| end(value));
        self.machines.extend(machines.map(|(name, _)| name));
    }

    /// Adds a machine by its name, or by the end of its path in the cloud.
    pub(super) fn add_machine(&mut self, name: &str) {
        self.machines.extend(end(name).map(|(name, _)| name));
    }

    /// Returns so many of each; the machines that no flow names.
    pub(super) fn into_parts(self, max: usize) -> (Vec<Flow>, Vec<String>) {
        let named = |machine: &String| {
            self.flows.iter().any(|flow| flow.to == *machine || flow.from.as_ref() == Some(machine))
        };
        let machines = self.machines.iter().filter(|machine| !named(machine)).take(max).cloned().collect();
        (self.flows.iter().take(max).cloned().collect(), machines)
    }
}

fn bare(key: &str) -> String {
    key.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).take(40).collect()
}

fn protocol(text: &str) -> Option<&'static str> {
    ["tcp", "udp", "icmp"].into_iter().find(|known| text.trim().eq_ignore_ascii_case(known))
}

/// Reads the end of a flow: `db-1`, `db-1:5432`, `10.0.0.4:53`, `[2001:db8::1]:53`, `https://db-1/x`, or a path in the cloud.
fn end(text: &str) -> Option<(String, Option<u16>)> {
    let text = line(text, MAX_NAME_CHARS + 100);
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text.as_str()));
    let well_known = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let rest = match rest.strip_prefix('/') {
        Some(path) if path.contains("providers/") => path.rsplit('/').next().unwrap_or_default(),
        Some(_) => return None,
        None => rest.split(['/', '?', '#']).next().unwrap_or_default(),
    };
    let (name, port) = if let Some(rest) = rest.strip_prefix('[') {
        let (name, port) = rest.split_once(']')?;
        (name, port.strip_prefix(':'))
    } else if rest.parse::<std::net::Ipv6Addr>().is_ok() {
        (rest, None)
    } else {
        rest.split_once(':').map_or((rest, None), |(name, port)| (name, Some(port)))
    };
    let port = port.and_then(|port| port.parse().ok()).filter(|port| *port > 0).or(well_known);
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | ':');
    let is_name = !name.is_empty()
        && name.len() <= MAX_NAME_CHARS
        && name.chars().all(fits)
        && name.starts_with(|char: char| char.is_ascii_alphanumeric() || char == ':');
    is_name.then(|| (name.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who calls, who is called, the port, the protocol.
    type Ends<'a> = (Option<&'a str>, &'a str, Option<u16>, Option<&'a str>);

    #[track_caller]
    fn flow(labels: &[(&str, &str)], expected: Option<Ends<'_>>) {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut found = Found::default();
        found.add(&labels);
        let (flows, _) = found.into_parts(9);
        let flow =
            flows.first().map(|flow| (flow.from.as_deref(), flow.to.as_str(), flow.port, flow.protocol));
        assert_eq!(flow, expected, "{labels:?}");
    }

    #[test]
    fn labels_name_a_flow_in_many_spellings() {
        flow(
            &[("from", "web-1"), ("to", "db-1"), ("port", "5432")],
            Some((Some("web-1"), "db-1", Some(5432), None)),
        );
        flow(
            &[("src_host", "a"), ("DstHost", "b:53"), ("proto", "UDP")],
            Some((Some("a"), "b", Some(53), Some("udp"))),
        );
        flow(&[("target", "https://db-1.example/x?y")], Some((None, "db-1.example", Some(443), None)));
        flow(&[("dst", "[2001:db8::1]:53")], Some((None, "2001:db8::1", Some(53), None)));
        flow(&[("dst", "2001:db8::1")], Some((None, "2001:db8::1", None, None)));
        flow(
            &[("to", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/db-1")],
            Some((None, "db-1", None, None)),
        );
        flow(&[("instance", "web-1:9100")], None);
    }

    #[test]
    fn what_is_no_name_names_nothing() {
        for odd in [
            "",
            " ",
            "db 1",
            "db-1; rm -rf /",
            "<!channel>",
            "$(id)",
            "/etc/passwd",
            "-x",
            "a\u{202e}b",
            "[::1",
        ] {
            flow(&[("from", "web-1"), ("to", odd)], None);
        }
        flow(&[("to", "db-1"), ("port", "70000")], Some((None, "db-1", None, None)));
        flow(&[("to", "db-1"), ("port", "0")], Some((None, "db-1", None, None)));
    }
}
