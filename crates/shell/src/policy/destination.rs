//! Which words of a command name hosts, as data.

use std::collections::HashMap;

use serde::Deserialize;

/// How a word is read to find the hosts in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reading {
    /// It names none.
    None,
    /// A name or an address that is sent to, or looked up.
    Host,
    /// A name is looked up, an address sends nothing.
    Name,
    /// The same for a program that knows addresses of IPv4 alone: an address of IPv6 is resolved as a name.
    NameOfIpv4,
    /// A network interface, or a name in its place.
    Interface,
    /// A host and a port.
    End,
    /// The address of a web resource.
    Url,
    /// `HOST:PORT:ADDRESS,ADDRESS`.
    Resolve,
    /// `HOST:PORT:HOST:PORT`.
    ConnectTo,
    /// A server, a name, a type or a switch of dig.
    Question,
    /// A filter of ss.
    SocketFilter,
    /// An address of lsof: `TCP@HOST:PORT`.
    SocketAddress,
    /// A filter of tcpdump.
    PacketFilter,
    /// A filter of tshark.
    DisplayFilter,
}

/// What a program sends to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Destinations {
    /// The programs.
    names: Vec<String>,
    /// The first operand is one of these words; whatever it is where there are none.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// How operands are read; the last reading stands for all that follow.
    #[serde(default)]
    operands: Vec<Reading>,
    /// How the values of options are read.
    #[serde(default)]
    options: HashMap<String, Reading>,
    /// Hosts that the program asks whatever it is given.
    #[serde(default)]
    pub(crate) always: Vec<String>,
    /// Hosts that an option brings along. A `+switch` may be shortened.
    #[serde(default)]
    brings: HashMap<String, Vec<String>>,
    /// Hosts that an option brings along, too, if the target may be an IPv6 address.
    #[serde(default)]
    brings_to_ipv6: HashMap<String, Vec<String>>,
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    program: Vec<Destinations>,
}

impl Destinations {
    /// Returns the rows of the table by program.
    pub(super) fn by_program(table: Table) -> HashMap<String, Self> {
        let by_name = |row: Self| row.names.clone().into_iter().map(move |name| (name, row.clone()));
        table.program.into_iter().flat_map(by_name).collect()
    }

    /// Makes the table of a program that nobody described: every word may be a destination.
    pub(crate) fn undescribed() -> Self {
        Self { operands: vec![Reading::Host], ..Self::default() }
    }

    /// Returns how an operand is read, by its place.
    pub(crate) fn operand(&self, place: usize) -> Reading {
        self.operands.get(place).or(self.operands.last()).copied().unwrap_or(Reading::None)
    }

    /// Returns how the value of an option is read. Programs that take `-option` take `--option`, too.
    pub(crate) fn option(&self, name: &str) -> Option<Reading> {
        let shorter = name.strip_prefix('-').filter(|name| name.starts_with('-'));
        self.options.get(name).or_else(|| self.options.get(shorter?)).copied()
    }

    /// Returns the hosts that an option brings along.
    pub(crate) fn brought(&self, name: &str, to_ipv6: bool) -> Vec<String> {
        let switch = name.strip_prefix('+').filter(|name| !name.is_empty()).map(str::to_ascii_lowercase);
        let matches = |key: &str| match (&switch, key.strip_prefix('+')) {
            (Some(switch), Some(whole)) => whole.starts_with(switch.as_str()),
            _ => key == name,
        };
        let more = to_ipv6.then_some(&self.brings_to_ipv6);
        let rows = [&self.brings].into_iter().chain(more).flatten();
        rows.filter(|(key, _)| matches(key)).flat_map(|(_, hosts)| hosts.iter().cloned()).collect()
    }
}
