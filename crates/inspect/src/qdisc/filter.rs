//! Filters: which packets they choose, and where they lead them.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A filter below a discipline.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Filter {
    pub(super) dev: Option<String>,
    pub(super) parent: String,
    /// The layer-3 protocol: `ip`, `ipv6`, `all` …
    pub(super) protocol: String,
    pub(super) pref: u32,
    pub(super) kind: String,
    /// The class to which it leads.
    pub(super) flowid: Option<String>,
    pub(super) keys: Vec<Key>,
    pub(super) line: usize,
    /// Whether it chooses anything: lists are headed by rows that do not.
    pub(super) whole: bool,
    /// Whether something else than a class stands beside it: what it does to packets is not read.
    pub(super) acts: bool,
    /// What stands beside it does to a packet that it takes; nothing where it only names a class.
    pub(super) act: Option<Act>,
}

/// What an action does to a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing, and the next filter is asked.
    Continues,
    /// It passes, and no other filter is asked.
    Passes,
    Drops,
    /// It passes up to a rate.
    Limits,
    /// It is not known.
    Other(String),
}

/// One thing that a packet has to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Protocol(u8),
    Sport(u16),
    Dport(u16),
    /// Source address and length of its prefix.
    Source(String),
    Destination(String),
    /// Understood by nobody here; kept word for word.
    Other(String),
}

impl Filter {
    /// Notes an action by its kind, and what the packet meets behind it.
    pub(super) fn action(&mut self, kind: &str, control: &str) {
        let act = match (kind, control) {
            ("gact", "drop" | "shot") => Act::Drops,
            ("gact", "pass" | "ok") => Act::Passes,
            ("gact", "continue" | "pipe" | "reclassify" | "unspec") => Act::Continues,
            ("police", _) => Act::Limits,
            ("mirror", _) => Act::Continues,
            (kind, control) => Act::Other(format!("{kind} {control}").trim().to_owned()),
        };
        let is_first = matches!(self.act, None | Some(Act::Continues));
        if is_first {
            self.act = Some(act);
        }
        self.acts = true;
    }

    /// Whether it chooses packets.
    pub(super) fn is_whole(&self) -> bool {
        self.whole || self.flowid.is_some()
    }

    /// Notes in which chain, or in which table of a `u32` filter it stands: only the first ones are asked by themselves.
    pub(super) fn stands_in(&mut self, chain: Option<&str>, table: Option<&str>) {
        if let Some(chain) = chain.filter(|chain| *chain != "0") {
            self.keys.push(Key::Other(format!("chain {chain}")));
        }
        let first = |table: &str| {
            u32::from_str_radix(table.trim_end_matches(':'), 16)
                .is_ok_and(|table| (0x800..=0xfff).contains(&table))
        };
        if let Some(table) = table.filter(|table| !first(table)) {
            self.keys.push(Key::Other(format!("table {table}")));
        }
    }

    /// Adds a 32-bit comparison at an offset into the network header; one that compares nothing adds nothing.
    pub(super) fn compare(&mut self, value: u32, mask: u32, at: i64) {
        if mask == 0 {
            return;
        }
        let six = self.protocol == "ipv6";
        let port = |bits: u32| u16::try_from(bits & 0xffff).unwrap_or_default();
        let byte = |bits: u32| u8::try_from(bits & 0xff).unwrap_or_default();
        // Offsets assume a header without options, as the filter itself does.
        let ports = if six { 40 } else { 20 };
        let mut known = Vec::new();
        match (at, mask) {
            (8, 0x00ff_0000) if !six => known.push(Key::Protocol(byte(value >> 16))),
            (4, 0x0000_ff00) if six => known.push(Key::Protocol(byte(value >> 8))),
            (at, 0x0000_ffff) if at == ports => known.push(Key::Dport(port(value))),
            (at, 0xffff_0000) if at == ports => known.push(Key::Sport(port(value >> 16))),
            (at, u32::MAX) if at == ports => {
                known.extend([Key::Sport(port(value >> 16)), Key::Dport(port(value))]);
            }
            (12, mask) if !six => known.extend(prefix(value, mask).map(Key::Source)),
            (16, mask) if !six => known.extend(prefix(value, mask).map(Key::Destination)),
            _ => {}
        }
        if known.is_empty() {
            known.push(Key::Other(format!("{value:08x}/{mask:08x} at {at}")));
        }
        self.keys.append(&mut known);
    }

    /// Adds a key of a `flower` filter.
    pub(super) fn flower(&mut self, name: &str, value: &str) {
        let key = match name {
            "eth_type" => {
                match value {
                    "ipv4" | "ip" => "ip".clone_into(&mut self.protocol),
                    "ipv6" => "ipv6".clone_into(&mut self.protocol),
                    _ => self.keys.push(Key::Other(format!("eth_type {value}"))),
                }
                return;
            }
            "ip_proto" => protocol_number(value).map(Key::Protocol),
            "dst_port" => value.parse().ok().map(Key::Dport),
            "src_port" => value.parse().ok().map(Key::Sport),
            "dst_ip" if is_prefix(value) => Some(Key::Destination(value.to_owned())),
            "src_ip" if is_prefix(value) => Some(Key::Source(value.to_owned())),
            "not_in_hw" | "in_hw" | "skip_hw" | "skip_sw" | "in_hw_count" => return,
            _ => None,
        };
        self.keys.push(key.unwrap_or_else(|| Key::Other(format!("{name} {value}"))));
    }

    /// Whether every packet that `other` chooses is chosen by this one too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        (self.protocol == "all" || self.protocol == other.protocol)
            && self.keys.iter().all(|key| other.keys.contains(key))
    }

    /// Says which traffic it chooses, a port as `tcp/22`.
    ///
    /// A comparison of ports alone means every protocol that has ports: TCP and UDP are named.
    pub(super) fn names(&self) -> Vec<String> {
        let mut protocols = Vec::new();
        let mut ports = Vec::new();
        let mut rest = Vec::new();
        for key in &self.keys {
            match key {
                Key::Protocol(6) => protocols.push("tcp".to_owned()),
                Key::Protocol(17) => protocols.push("udp".to_owned()),
                Key::Protocol(1) => protocols.push("icmp".to_owned()),
                Key::Protocol(58) => protocols.push("icmpv6".to_owned()),
                Key::Protocol(number) => protocols.push(format!("protocol {number}")),
                Key::Sport(port) | Key::Dport(port) => ports.push(*port),
                Key::Source(prefix) => rest.push(format!(" from {prefix}")),
                Key::Destination(prefix) => rest.push(format!(" to {prefix}")),
                Key::Other(text) => rest.push(format!(" with {text}")),
            }
        }
        if protocols.is_empty() && !ports.is_empty() {
            protocols = vec!["tcp".to_owned(), "udp".to_owned()];
        }
        if protocols.is_empty() {
            protocols.push(self.protocol.clone());
        }
        let mut names = Vec::new();
        for protocol in protocols {
            if ports.is_empty() {
                names.push(format!("{protocol}{}", rest.concat()));
            }
            names.extend(ports.iter().map(|port| format!("{protocol}/{port}{}", rest.concat())));
        }
        names
    }
}

/// Reads a protocol by name or number.
pub(super) fn protocol_number(text: &str) -> Option<u8> {
    match text {
        "tcp" => Some(6),
        "udp" => Some(17),
        "icmp" => Some(1),
        "icmpv6" => Some(58),
        "sctp" => Some(132),
        _ => text.parse().ok(),
    }
}

fn prefix(value: u32, mask: u32) -> Option<String> {
    (mask.leading_ones() == mask.count_ones())
        .then(|| format!("{}/{}", Ipv4Addr::from(value), mask.leading_ones()))
}

fn is_prefix(text: &str) -> bool {
    let (address, length) = text.split_once('/').unwrap_or((text, "0"));
    (address.parse::<Ipv4Addr>().is_ok() || address.parse::<Ipv6Addr>().is_ok())
        && length.parse::<u8>().is_ok()
}
