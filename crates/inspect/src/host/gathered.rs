//! What was gathered on a machine, by part, before anything is made of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the parts with their names.
macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident = $name:literal),* $(,)?) => {
        /// A part of what the script prints.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Part {
            $($(#[$doc])* $part,)*
        }

        impl Part {
            /// Every part, in the order in which it is gathered.
            pub const ALL: &'static [Self] = &[$(Self::$part),*];

            /// Returns its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)*
                }
            }
        }
    };
}

parts! {
    /// Name, kernel, user and time.
    About = "about",
    /// Counters of protocols.
    Counters = "counters",
    /// Devices with counters.
    Links = "links",
    /// Queueing disciplines with counters.
    Qdiscs = "qdiscs",
    /// What the kernel's input queues counted.
    Softnet = "softnet",
    /// What the table of connections counted.
    Conntrack = "conntrack",
    /// Addresses.
    Addresses = "addresses",
    /// Routes of all tables.
    Routes = "routes",
    /// IPv6 routes of all tables.
    Routes6 = "routes6",
    /// Routing rules.
    Rules = "rules",
    /// IPv6 routing rules.
    Rules6 = "rules6",
    /// Neighbors.
    Neighbors = "neighbors",
    /// Ports of bridges.
    Bridge = "bridge",
    /// Hardware addresses behind ports of bridges.
    Fdb = "fdb",
    /// Who listens.
    Listeners = "listeners",
    /// Connections with what TCP knows of them.
    Connections = "connections",
    /// UDP sockets with what they dropped.
    Udp = "udp",
    /// Settings of the kernel.
    Settings = "settings",
    /// The native ruleset.
    FilterNft = "filter-nft",
    /// Rules of iptables, old backend.
    FilterLegacy = "filter-iptables-legacy",
    /// Rules of ip6tables, old backend.
    FilterLegacy6 = "filter-ip6tables-legacy",
    /// Rules of iptables on nftables.
    FilterIptables = "filter-iptables-nft",
    /// Rules of ip6tables on nftables.
    FilterIptables6 = "filter-ip6tables-nft",
    /// Sets of addresses that rules of iptables name.
    FilterSets = "filter-ipset",
    /// Which backend `iptables` is.
    FilterAlternatives = "filter-alternatives",
    /// Tables of the old backend that are loaded.
    FilterTables = "filter-tables",
    /// The same of IPv6.
    FilterTables6 = "filter-tables6",
    /// Name servers.
    Resolver = "resolver",
    /// Names that need no server.
    Hosts = "hosts",
    /// Where names are looked for.
    Nsswitch = "nsswitch",
    /// What name servers answered.
    Answers = "answers",
    /// Proxies.
    Proxy = "proxy",
    /// Who asks for addresses by DHCP, and what was given.
    DhcpClient = "dhcp-client",
    /// What a DHCP server gives away, and gave.
    DhcpServer = "dhcp-server",
    /// Tunnels of WireGuard, without keys that are secret.
    Wireguard = "wireguard",
    /// Routing daemons: which are switched on, which run.
    Routing = "routing",
    /// Neighbors of BGP.
    BgpPeers = "bgp-peers",
    /// Routes of BGP, unless there are too many.
    BgpRoutes = "bgp-routes",
    /// Those of them whose community asks others to throw packets away.
    BgpBlackholes = "bgp-blackholes",
    /// Devices on which OSPF speaks.
    OspfDevices = "ospf-devices",
    /// Neighbors of OSPF.
    OspfNeighbors = "ospf-neighbors",
    /// What the kernel complained about.
    KernelLog = "kernel-log",
    /// Services that have failed.
    Units = "units",
    /// What services of the network warned of, and those that serve or have failed.
    UnitLog = "unit-log",
    /// Networks of Docker.
    DockerNetworks = "docker-networks",
    /// Networks of Podman.
    PodmanNetworks = "podman-networks",
    /// Networks that plugins of CNI make.
    CniNetworks = "cni-networks",
    /// Programs that run, by name.
    Processes = "processes",
    /// What the clock is set by.
    Clock = "clock",
    /// What came of trying to reach destinations.
    Probes = "probes",
    /// Neighbors, after the gateways were called.
    NeighborsLater = "neighbors-later",
    /// The counters of protocols, later.
    CountersLater = "counters-later",
    /// The devices, later.
    LinksLater = "links-later",
    /// The queueing disciplines, later.
    QdiscsLater = "qdiscs-later",
    /// The kernel's input queues, later.
    SoftnetLater = "softnet-later",
    /// The table of connections, later.
    ConntrackLater = "conntrack-later",
}

impl Part {
    /// Finds a part by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|part| part.as_str() == name)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// What a part's command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartText {
    /// The exit code; 127 is a program that is not there.
    pub code: u8,
    /// What it printed; where it failed, what it said.
    pub text: String,
    /// The length of the text in bytes when it was gathered. A shorter text was cut off later; nothing in snapshots of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

/// Everything that was gathered on a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gathered {
    parts: BTreeMap<String, PartText>,
}

/// Why something was not gathered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// A part is there twice.
    #[error("the part `{0}` is there twice")]
    Twice(String),
    /// A part is none of the script's.
    #[error("the part `{0}` is none of ours")]
    Unknown(String),
    /// A part is not there at all: the text is only a part of what was printed.
    #[error("the part `{0}` is missing")]
    Missing(&'static str),
}

/// Why a part was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The snapshot does not hold it.
    #[error("not gathered")]
    NotGathered,
    /// The machine has no such program, in its own words.
    #[error("{}", not_installed(.0))]
    NotInstalled(String),
    /// The snapshot holds only the beginning of it.
    #[error("cut off: {read} of {gathered} bytes")]
    CutOff {
        /// The bytes that are left.
        read: usize,
        /// The bytes that were gathered.
        gathered: usize,
    },
    /// The program ended without an error, and printed something else than it prints for this question.
    #[error("it printed something else than expected: {said}")]
    Garbage {
        /// The beginning of what it printed, or why that cannot be read.
        said: String,
    },
    /// The program failed.
    #[error("exit code {code}: {said}")]
    Failed {
        /// Its exit code.
        code: u8,
        /// The beginning of what it said.
        said: String,
    },
}

impl Gathered {
    /// Puts sections together: name, exit code, text.
    ///
    /// # Errors
    /// Fails where a section is unknown, repeated or missing: a part of the output is not taken for the whole.
    pub fn from_sections(
        sections: impl IntoIterator<Item = (String, u8, String)>,
    ) -> Result<Self, GatherError> {
        let mut parts = BTreeMap::new();
        for (name, code, text) in sections {
            if Part::named(&name).is_none() {
                return Err(GatherError::Unknown(name.chars().take(40).collect()));
            }
            let bytes = Some(text.len());
            if parts.insert(name.clone(), PartText { code, text, bytes }).is_some() {
                return Err(GatherError::Twice(name));
            }
        }
        match Part::ALL.iter().find(|part| !parts.contains_key(part.as_str())) {
            Some(part) => Err(GatherError::Missing(part.as_str())),
            None => Ok(Self { parts }),
        }
    }

    /// Returns the text of a part.
    ///
    /// # Errors
    /// Says why it was not read.
    pub fn text(&self, part: Part) -> Result<&str, PartError> {
        match self.parts.get(part.as_str()) {
            Some(PartText { code: 0, text, bytes: Some(gathered) }) if text.len() < *gathered => {
                Err(PartError::CutOff { read: text.len(), gathered: *gathered })
            }
            Some(PartText { code: 0, text, .. }) => Ok(text),
            Some(PartText { code: 127, text, .. }) => Err(PartError::NotInstalled(text.trim().to_owned())),
            Some(PartText { code, text, .. }) => {
                Err(PartError::Failed { code: *code, said: text.trim().chars().take(200).collect() })
            }
            None => Err(PartError::NotGathered),
        }
    }

    /// True if the text of a part is known to be as long as it was when it was gathered.
    #[must_use]
    pub fn is_whole(&self, part: Part) -> bool {
        self.parts.get(part.as_str()).is_some_and(|text| text.bytes == Some(text.text.len()))
    }

    /// Puts a text in the place of a part.
    #[must_use]
    pub fn with(mut self, part: Part, text: &str) -> Self {
        let text = PartText { code: 0, text: text.to_owned(), bytes: Some(text.len()) };
        self.parts.insert(part.as_str().to_owned(), text);
        self
    }

    /// Puts what a failed command said in the place of a part.
    #[must_use]
    pub fn with_failure(mut self, part: Part, code: u8, said: &str) -> Self {
        self.parts.insert(part.as_str().to_owned(), PartText { code, text: said.to_owned(), bytes: None });
        self
    }

    /// Removes a part, as if it had not been gathered.
    #[must_use]
    pub fn without(mut self, part: Part) -> Self {
        self.parts.remove(part.as_str());
        self
    }

    /// Returns the parts that could not be read, each with the reason. A program that is not installed has nothing to read.
    pub fn closed(&self) -> impl Iterator<Item = (Part, &str)> {
        let parts = Part::ALL.iter().filter_map(|part| Some((*part, self.parts.get(part.as_str())?)));
        parts
            .filter(|(_, text)| text.code != 0 && text.code != 127)
            .map(|(part, text)| (part, text.text.as_str()))
    }
}

/// Words a program that is missing, where the machine does not.
const fn not_installed(said: &str) -> &str {
    if said.is_empty() { "the program is not installed" } else { said }
}
