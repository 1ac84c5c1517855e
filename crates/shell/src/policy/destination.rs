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
    /// A network interface, or a name in its place.
    Interface,
    /// Digits are a length; anything else is a host.
    Length,
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
    /// Options that take the next word and name no host.
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Destinations>,
}

impl Destinations {
    /// Reads the table, by program.
    pub(super) fn load(text: &str) -> Result<HashMap<String, Self>, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let by_name = |one: Self| one.names.clone().into_iter().map(move |name| (name, one.clone()));
        Ok(file.program.into_iter().flat_map(by_name).collect())
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

    /// Tells whether an option takes the next word.
    pub(crate) fn takes_value(&self, name: &str) -> bool {
        self.option(name).is_some() || self.values.iter().any(|option| option == name)
    }
}
