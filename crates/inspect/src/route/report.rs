//! The report of a selection.

use std::borrow::Cow;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::anomaly::Anomaly;
use super::row::Route;
use crate::net::Warning;

/// What became of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// One route carries the packet.
    Winner,
    /// Several routes are equally good; the platform spreads the load over them.
    Tied,
    /// No route carries the packet.
    NoRoute,
    /// A service tag that nobody resolved could carry it.
    Indeterminate,
}

impl Outcome {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Winner => "WINNER",
            Self::Tied => "TIED",
            Self::NoRoute => "NO_ROUTE",
            Self::Indeterminate => "INDETERMINATE",
        }
    }
}

/// Why a route was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Reason {
    /// It alone had the longest prefix.
    LpmOnly,
    /// Others had as long a prefix, and its source ranks higher.
    SourcePrecedence,
    /// The platform prefers its own routes of virtual networks, peerings and service endpoints.
    SystemPreferred,
    /// It names its prefix, and another of the same length comes from a service tag.
    ExplicitPrefix,
}

impl Reason {
    /// Returns the reason as a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::LpmOnly => "it alone has the longest prefix",
            Self::SourcePrecedence => "of the routes of this length, its source ranks highest",
            Self::SystemPreferred => {
                "system routes of networks, peerings and service endpoints are preferred"
            }
            Self::ExplicitPrefix => "a prefix that is written out goes before one of a service tag",
        }
    }
}

/// One prefix of a route, for people and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Entry<'a> {
    /// The prefix that contains the destination.
    #[serde(serialize_with = "as_text")]
    pub prefix: IpNet,
    /// Who put it there.
    pub source: &'a str,
    /// The kind of the next hop as the table says it.
    pub next_hop_type: &'a str,
    /// The first address of the next hop.
    pub next_hop_ip: Option<&'a str>,
    /// Every address of the next hop.
    pub next_hop_ips: &'a [String],
    /// The route's name.
    pub name: Option<&'a str>,
    /// Whether it is in use.
    pub state: &'a str,
    /// The service tag that the prefix comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<&'a str>,
    /// The row of the document, from one.
    pub row: usize,
}

fn as_text<S: Serializer>(prefix: &IpNet, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(prefix)
}

impl<'a> From<&'a Route> for Entry<'a> {
    fn from(route: &'a Route) -> Self {
        let row = &*route.row;
        Self {
            prefix: route.prefix,
            source: row.source.as_str(),
            next_hop_type: &row.hop_type,
            next_hop_ip: row.hop_ips.first().map(String::as_str),
            next_hop_ips: &row.hop_ips,
            name: row.name.as_deref(),
            state: row.state.as_str(),
            tag: route.tag.as_deref(),
            row: row.number,
        }
    }
}

impl std::fmt::Display for Entry<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {} → {}", self.source, self.prefix, self.next_hop_type)?;
        if !self.next_hop_ips.is_empty() {
            write!(out, " {}", self.next_hop_ips.join(", "))?;
        }
        self.tag.iter().try_for_each(|tag| write!(out, " (tag {tag})"))?;
        self.name.iter().try_for_each(|name| write!(out, " \"{name}\""))
    }
}

/// One route that contains the destination, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SelectionStep<'a> {
    /// The route that was compared.
    pub route: Entry<'a>,
    /// What became of it, as a sentence.
    pub what: &'static str,
}

/// The answer to "which route carries a packet to this address?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Selection<'a> {
    /// The version of this format.
    pub format: u8,
    /// What became of the question.
    pub result: Outcome,
    /// The route that carries the packet.
    pub winner: Option<Entry<'a>>,
    /// The routes among which nothing decides.
    pub tied: Vec<Entry<'a>>,
    /// Why the winner won.
    pub reason: Option<Reason>,
    /// What a reviewer would want to know.
    pub anomalies: Vec<Anomaly>,
    /// Every other active route that contains the destination.
    pub shadowed: Vec<Entry<'a>>,
    /// The service tags that could change the answer.
    pub unresolved: Vec<String>,
    /// Every route that contains the destination, the longest prefix first.
    pub trace: Vec<SelectionStep<'a>>,
    /// What could not be read.
    pub warnings: Cow<'a, [Warning]>,
}
