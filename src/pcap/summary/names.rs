//! What is told of names.

use super::kind::{DnsFacts, ServerFacts};
use super::write::Choice;
use crate::pcap::dns;
use crate::pcap::flow::Figures;

/// Writes the account of names.
pub(super) fn names(tally: &dns::Tally, unanswered: u64, (most, focus): Choice) -> DnsFacts {
    let mut servers: Vec<ServerFacts> = tally
        .servers
        .iter()
        .filter(|(server, _)| focus.is_none_or(|focus| focus.is(**server)))
        .map(|(server, known)| ServerFacts {
            server: *server,
            queries: known.queries,
            unanswered: known.unanswered,
            latency_ms: Figures::of(&known.latency),
        })
        .collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.queries));
    servers.truncate(most);
    DnsFacts {
        queries: tally.queries,
        responses: tally.responses,
        unanswered,
        retries: tally.retries,
        truncated: tally.truncated,
        rcodes: tally.rcodes.clone(),
        latency_ms: Figures::of(&tally.latency),
        servers,
        suspicious: Vec::new(),
    }
}
