//! Which reads each question about a machine needs, and what to do where one of them failed.
//!
//! Goes in: a question, a machine as it was read. Comes out: the reads that the answer needs and that are missing, each with the reason
//! and what makes it readable. Never: "there is none" for what was not read; a doubt because of something that the answer does not use.

use serde::Serialize;

use super::answer::Answer;
use super::finding::as_text;
use super::gathered::{Part, PartError};
use super::model::Host;

/// A question about a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Is anything about its network odd?
    Machine,
    /// Does it let a flow of IPv4 pass?
    Flow,
    /// Does it let a flow of IPv6 pass?
    FlowOfIpv6,
    /// Does a service of it take a call?
    Service,
    /// Does it find names?
    Names,
    /// What changed on it? Both times have to be read.
    Changes,
}

/// How a question needs a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Without it the question has no answer.
    Always,
    /// Without it the question has no answer, unless the program that would print it is not installed: then there is nothing to print.
    WhereInstalled,
    /// It is one of the sources of packet filters. Together they tell whether every rule was read.
    OfFilters,
    /// The answer does not use it.
    Never,
}

/// A read that an answer needs and that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnreadPart {
    /// The machine.
    pub host: String,
    /// The part of what is gathered.
    #[serde(serialize_with = "as_text")]
    pub part: Part,
    /// What it would show.
    pub what: &'static str,
    /// Why it was not read.
    pub why: String,
    /// What makes it readable.
    #[serde(rename = "do")]
    pub remedy: String,
}

impl Question {
    /// Every question.
    pub const ALL: [Self; 6] =
        [Self::Machine, Self::Flow, Self::FlowOfIpv6, Self::Service, Self::Names, Self::Changes];

    /// Words the question.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Machine => "is anything about the machine's network odd",
            Self::Flow => "does the machine let a flow pass",
            Self::FlowOfIpv6 => "does the machine let a flow of IPv6 pass",
            Self::Service => "does a service of the machine take a call",
            Self::Names => "does the machine find names",
            Self::Changes => "what changed on the machine",
        }
    }

    /// Says whether the answer needs a read: the table of all questions.
    #[must_use]
    pub const fn needs(self, part: Part) -> Need {
        match (self, part) {
            // By these nothing is judged.
            (
                _,
                Part::Bridge
                | Part::Fdb
                | Part::Nsswitch
                | Part::Proxy
                | Part::Wireguard
                | Part::Processes
                | Part::Clock
                | Part::FilterAlternatives,
            ) => Need::Never,
            (
                Self::Machine | Self::Flow | Self::FlowOfIpv6 | Self::Changes,
                Part::FilterNft
                | Part::FilterLegacy
                | Part::FilterLegacy6
                | Part::FilterIptables
                | Part::FilterIptables6
                | Part::FilterSets
                | Part::FilterTables
                | Part::FilterTables6,
            ) => Need::OfFilters,
            (
                Self::Machine,
                Part::Routing
                | Part::BgpPeers
                | Part::BgpRoutes
                | Part::BgpBlackholes
                | Part::OspfDevices
                | Part::OspfNeighbors
                | Part::DockerNetworks
                | Part::PodmanNetworks
                | Part::CniNetworks
                | Part::KernelLog
                | Part::UnitLog
                | Part::Units,
            ) => Need::WhereInstalled,
            // What was tried is a question of its own: of each destination it is said whether it was reached.
            (Self::Machine, Part::Probes) => Need::Never,
            (Self::Machine, _) => Need::Always,
            (
                Self::Flow | Self::FlowOfIpv6,
                Part::Links
                | Part::Addresses
                | Part::NeighborsLater
                | Part::QdiscsLater
                | Part::Settings
                | Part::ConntrackLater,
            ) => Need::Always,
            (Self::Flow, Part::Routes | Part::Rules) => Need::Always,
            (Self::FlowOfIpv6, Part::Routes | Part::Routes6 | Part::Rules6) => Need::Always,
            (Self::Service, Part::Listeners | Part::Connections | Part::Counters | Part::Settings) => {
                Need::Always
            }
            (Self::Names, Part::Resolver | Part::Hosts | Part::Answers) => Need::Always,
            (
                Self::Changes,
                Part::Links
                | Part::Addresses
                | Part::Routes
                | Part::Routes6
                | Part::Rules
                | Part::Listeners
                | Part::Resolver
                | Part::Settings,
            ) => Need::Always,
            (Self::Flow | Self::FlowOfIpv6 | Self::Service | Self::Names | Self::Changes, _) => Need::Never,
        }
    }

    /// Returns the reads that the answer needs and that are missing on a machine.
    #[must_use]
    pub fn unread(self, host: &Host) -> Vec<UnreadPart> {
        let mut found = Vec::new();
        for (part, error) in &host.closed {
            let is_needed = match self.needs(*part) {
                Need::Always => true,
                Need::WhereInstalled => !matches!(error, PartError::NotInstalled(_)),
                Need::OfFilters | Need::Never => false,
            };
            if is_needed {
                found.push(unread(host, *part, error.to_string(), remedy(host, *part, Some(error))));
            }
        }
        if let (Need::OfFilters, Answer::NotKnown(why)) = (self.needs(Part::FilterNft), &host.filters_read) {
            let sources = host.closed.iter().filter(|(part, _)| self.needs(*part) == Need::OfFilters);
            let open = host.filters.unread.first().map(|warning| warning.place.as_str());
            let named =
                |part: Part| part.as_str().strip_prefix("filter-").is_some_and(|name| Some(name) == open);
            let (part, error) = sources
                .filter(|(part, _)| named(*part))
                .map(|(part, error)| (*part, Some(error)))
                .next()
                .unwrap_or((
                    Part::ALL.iter().copied().find(|part| named(*part)).unwrap_or(Part::FilterNft),
                    None,
                ));
            found.push(unread(host, part, why.clone(), remedy(host, part, error)));
        }
        // Of a list of which a row is not understood nobody knows whether that row decides.
        for warning in &host.warnings {
            let is_new = !found.iter().any(|one| one.part == warning.part);
            if is_new && !matches!(self.needs(warning.part), Need::OfFilters | Need::Never) {
                let remedy = remedy(host, warning.part, None);
                found.push(unread(host, warning.part, warning.what.clone(), remedy));
            }
        }
        found.sort();
        found
    }
}

fn unread(host: &Host, part: Part, why: String, remedy: String) -> UnreadPart {
    UnreadPart { host: host.name.clone(), part, what: what(part), why, remedy }
}

/// Names what a part shows.
#[must_use]
pub(super) const fn what(part: Part) -> &'static str {
    match part {
        Part::About => "time and user",
        Part::Counters | Part::CountersLater => "counters of protocols",
        Part::Links => "devices",
        Part::LinksLater => "counters of devices",
        Part::Qdiscs | Part::QdiscsLater => "traffic shaping",
        Part::Softnet | Part::SoftnetLater => "input queues",
        Part::Conntrack | Part::ConntrackLater => "table of connections",
        Part::Addresses => "addresses",
        Part::Routes => "routes",
        Part::Routes6 => "routes of IPv6",
        Part::Rules => "routing rules",
        Part::Rules6 => "routing rules of IPv6",
        Part::Neighbors | Part::NeighborsLater => "neighbors",
        Part::Bridge => "ports of bridges",
        Part::Fdb => "hardware addresses behind bridges",
        Part::Listeners => "listening sockets",
        Part::Connections => "connections",
        Part::Udp => "UDP sockets",
        Part::Settings => "kernel settings",
        Part::FilterNft
        | Part::FilterLegacy
        | Part::FilterLegacy6
        | Part::FilterIptables
        | Part::FilterIptables6
        | Part::FilterSets
        | Part::FilterAlternatives
        | Part::FilterTables
        | Part::FilterTables6 => "packet filters",
        Part::Resolver => "name servers",
        Part::Hosts => "/etc/hosts",
        Part::Nsswitch => "order of name services",
        Part::Answers => "answers of name servers",
        Part::Proxy => "proxies",
        Part::DhcpClient => "DHCP clients",
        Part::DhcpServer => "DHCP servers",
        Part::Wireguard => "WireGuard",
        Part::Routing => "routing daemons",
        Part::BgpPeers | Part::BgpRoutes | Part::BgpBlackholes => "BGP",
        Part::OspfDevices | Part::OspfNeighbors => "OSPF",
        Part::KernelLog => "kernel log",
        Part::Units => "failed services",
        Part::UnitLog => "log of services",
        Part::DockerNetworks | Part::PodmanNetworks | Part::CniNetworks => "networks of containers",
        Part::Processes => "processes",
        Part::Clock => "clock",
        Part::Probes => "tries to reach destinations",
    }
}

/// The program that prints a part, and the package that has it; no package for what comes with every system.
const fn program(part: Part) -> (&'static str, Option<&'static str>) {
    match part {
        Part::Links
        | Part::LinksLater
        | Part::Addresses
        | Part::Routes
        | Part::Routes6
        | Part::Rules
        | Part::Rules6
        | Part::Neighbors
        | Part::NeighborsLater => ("ip", Some("iproute2 (`iproute` on Red Hat)")),
        Part::Bridge | Part::Fdb => ("bridge", Some("iproute2 (`iproute` on Red Hat)")),
        Part::Qdiscs | Part::QdiscsLater => {
            ("tc", Some("iproute2 (`iproute-tc` on Red Hat, `iproute2-tc` on Alpine)"))
        }
        Part::Listeners | Part::Connections => ("ss", Some("iproute2 (`iproute` on Red Hat)")),
        Part::Settings => ("sysctl", Some("procps")),
        Part::Processes | Part::DhcpClient | Part::DhcpServer => ("ps", Some("procps")),
        Part::FilterNft => ("nft", Some("nftables")),
        Part::FilterLegacy | Part::FilterIptables => ("iptables-save", Some("iptables")),
        Part::FilterLegacy6 | Part::FilterIptables6 => ("ip6tables-save", Some("iptables")),
        Part::FilterSets => ("ipset", Some("ipset")),
        Part::Answers => ("dig", Some("bind9-dnsutils (`bind-utils` on Red Hat, `bind-tools` on Alpine)")),
        Part::Wireguard => ("wg", Some("wireguard-tools")),
        Part::Routing
        | Part::BgpPeers
        | Part::BgpRoutes
        | Part::BgpBlackholes
        | Part::OspfDevices
        | Part::OspfNeighbors => ("vtysh", Some("frr")),
        Part::UnitLog => ("journalctl", None),
        Part::KernelLog => ("dmesg", None),
        Part::Units => ("systemctl", None),
        Part::Clock => ("timedatectl", None),
        Part::DockerNetworks => ("docker", None),
        Part::Probes => ("ping", Some("iputils-ping and netcat-openbsd")),
        Part::About
        | Part::Counters
        | Part::CountersLater
        | Part::Softnet
        | Part::SoftnetLater
        | Part::Conntrack
        | Part::ConntrackLater
        | Part::Udp
        | Part::FilterAlternatives
        | Part::FilterTables
        | Part::FilterTables6
        | Part::Resolver
        | Part::Hosts
        | Part::Nsswitch
        | Part::Proxy
        | Part::PodmanNetworks
        | Part::CniNetworks => ("cat", None),
    }
}

/// Says what makes a part readable.
fn remedy(host: &Host, part: Part, error: Option<&PartError>) -> String {
    let (program, package) = program(part);
    let install = || package.map(|package| format!("install {package}"));
    let look = || format!("run `{program}` on {} and look at what it prints", host.name);
    match error {
        Some(PartError::NotGathered) => "gather it again with `ghost host --save`".to_owned(),
        Some(PartError::CutOff { .. }) => "copy the snapshot again, or gather it again".to_owned(),
        Some(PartError::NotInstalled(_)) => install().unwrap_or_else(|| format!("install {program}")),
        Some(PartError::Failed { said, .. }) => {
            let said = said.to_ascii_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
            if says(&[
                "permission denied",
                "not permitted",
                "must be root",
                "may not be read",
                "access denied",
            ]) {
                "read it as root, or with the sudo rules of docs/tools/host.md".to_owned()
            } else if says(&["busybox"]) {
                let instead = format!("in place of BusyBox's `{program}`");
                install().map_or_else(look, |install| format!("{install} {instead}"))
            } else if says(&[
                "invalid option",
                "unrecognized option",
                "unknown option",
                "illegal option",
                "usage:",
            ]) {
                let why = format!("a newer one: this `{program}` does not know an option that is needed");
                install().map_or_else(look, |install| format!("{install}, {why}"))
            } else {
                look()
            }
        }
        Some(PartError::Garbage { .. }) if program == "ip" || program == "bridge" => {
            format!(
                "install iproute2 5.0 or later: this `{program}` does not print JSON where it is asked for it"
            )
        }
        Some(PartError::Garbage { .. }) | None => look(),
    }
}
