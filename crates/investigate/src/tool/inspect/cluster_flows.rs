//! Flows to the API server of a cluster and from its nodes, where somebody speaks of one.

use std::net::IpAddr;

use super::estate_reader::{EstateReader, INTERNET};
use crate::complaint::{self, Complaint};
use ghost_inspect::path::{Flow, Protocol};

/// The port of registries.
const HTTPS: u16 = 443;
/// Words of whoever speaks of a cluster.
const WORDS: [&str; 7] =
    ["kubectl", "kubernetes", "aks", "api server", "apiserver", "k8s", "imagepullbackoff"];
/// Words of whoever speaks of what its nodes call.
const OUTWARD: [&str; 8] = [
    "pull",
    "imagepullbackoff",
    "registry",
    "mcr.microsoft.com",
    "outbound",
    "egress",
    "internet",
    "reach outside",
];

/// How somebody speaks of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClusterWords {
    text: String,
    /// Whether it is about what nodes call outside.
    is_outward: bool,
}

impl ClusterWords {
    /// Reads the words; nothing where nobody speaks of one.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let is_part = |char: char| char.is_ascii_alphanumeric();
        let is_said = |wanted: &&str| {
            let is_word = text.split(|char| !is_part(char)).any(|word| word == *wanted);
            is_word || (wanted.contains(' ') && text.contains(*wanted))
        };
        let is_outward = OUTWARD.iter().any(|words| text.contains(words));
        let is_meant = WORDS.iter().any(is_said);
        is_meant.then_some(Self { is_outward, text })
    }
}

impl EstateReader<'_> {
    /// Returns the flows of a complaint about a cluster; nothing where it is about something else.
    pub(super) fn of_cluster(&self, complaint: &Complaint) -> Option<Vec<Flow>> {
        let words = self.of_clusters.as_ref().filter(|_| complaint.kind == complaint::Kind::Trouble)?;
        let estate = self.estate();
        let all: Vec<(&str, Vec<IpAddr>)> = estate.clusters().collect();
        let named: Vec<&(&str, Vec<IpAddr>)> =
            all.iter().filter(|(name, _)| words.text.contains(&name.to_lowercase())).collect();
        let meant = match (named.as_slice(), all.as_slice()) {
            ([], [one]) => vec![one],
            _ => named,
        };
        let mut flows: Vec<Flow> = Vec::new();
        for (name, nodes) in meant {
            if words.is_outward {
                let outside = IpAddr::from(INTERNET);
                flows.extend(
                    nodes
                        .iter()
                        .filter_map(|from| Flow::new(*from, outside, Protocol::Tcp, Some(HTTPS)).ok()),
                );
                continue;
            }
            // Whoever names no machine calls from somewhere outside.
            // A machine that nobody names was taken for one because of what it serves.
            let said = complaint.machines.iter().filter(|own| words.text.contains(&own.to_lowercase()));
            let own = said.filter_map(|caller| estate.addresses_of(caller).first().copied());
            let mut callers: Vec<IpAddr> = own.collect();
            if callers.is_empty() {
                callers.push(IpAddr::from(INTERNET));
            }
            flows.extend(callers.into_iter().filter_map(|from| estate.flow_to_cluster(from, name)));
        }
        Some(flows).filter(|flows| !flows.is_empty())
    }
}
