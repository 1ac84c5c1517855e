//! Fills in the facts of DNS.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use super::facts::{DnsFacts, DnsServerFacts};
use super::write::Choice;
use crate::dns::{self, Client, GeneratedName, ParentDomain};
use crate::findings::tunnel;
use crate::flow::Percentiles;

/// How many points a client adds whose answers all say that a name does not exist.
const MAX_PART_POINTS: f64 = 15.0;
/// How much of a name is reported.
const MAX_NAME_LEN: usize = 120;

/// A name, or the domain of many, that resembles the work of a program.
#[derive(Debug, Clone, Serialize)]
pub struct SuspiciousNameFacts {
    /// The name, escaped.
    pub name: String,
    /// `generated`: made up, and it does not exist. `tunnel`: something travels in the names below it.
    pub kind: &'static str,
    /// Who asked, the first of several.
    pub client: Option<IpAddr>,
    /// How often.
    pub count: u64,
    /// Points of a generated name, all parts together; 0 for a tunnel.
    pub score: f64,
    /// What the suspicion rests on. Of a generated name points for length, entropy, digits among letters, few vowels, seldom
    /// pairs of letters, and the share of names that do not exist. Of a tunnel names, mean label, share of text, bytes.
    pub parts: BTreeMap<&'static str, f64>,
    /// Where first.
    pub first_frame: u64,
}

/// Returns the beginning of a name: what is longer was made to be long.
fn clipped(name: &str) -> String {
    name.get(..MAX_NAME_LEN).map_or_else(|| name.to_owned(), |start| format!("{start}…"))
}

/// Writes the account of names.
pub(super) fn names(tally: &dns::DnsStats, unanswered: u64, (most, focus): Choice) -> DnsFacts {
    let mut servers: Vec<DnsServerFacts> = tally
        .servers
        .iter()
        .filter(|(server, _)| focus.is_none_or(|focus| focus.is(**server)))
        .map(|(server, known)| DnsServerFacts {
            server: *server,
            queries: known.queries,
            unanswered: known.unanswered,
            retries: known.retries,
            slow: known.slow,
            latency_ms: Percentiles::of(&known.latency),
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
        truncated_asked_by_tcp: tally.mended,
        search_list: tally.clients.all.values().map(|client| client.excused).sum(),
        rcodes: tally.rcodes.clone(),
        types: types(&tally.kinds),
        latency_ms: Percentiles::of(&tally.latency),
        servers,
        suspicious: suspicious(tally, (most, focus)),
    }
}

fn types(kinds: &BTreeMap<u16, u64>) -> BTreeMap<String, u64> {
    let mut most: Vec<(&u16, &u64)> = kinds.iter().collect();
    most.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), **kind));
    most.into_iter().take(16).map(|(kind, count)| (dns::kind(*kind), *count)).collect()
}

fn suspicious(tally: &dns::DnsStats, (most, focus): Choice) -> Vec<SuspiciousNameFacts> {
    let meant =
        |client: Option<IpAddr>| focus.is_none_or(|focus| client.is_some_and(|client| focus.is(client)));
    let mut found: Vec<SuspiciousNameFacts> =
        tally.parents.all.values().filter(|parent| tunnel(parent)).map(below).collect();
    let made = tally.clients.all.iter().flat_map(|(address, client)| {
        client.odd.iter().map(|(name, odd)| generated(*address, client, name, odd))
    });
    found.extend(made);
    found.retain(|entry| meant(entry.client));
    found.sort_by(|one, other| {
        let order = |entry: &SuspiciousNameFacts| (entry.kind != "tunnel", -entry.score, entry.first_frame);
        order(one).partial_cmp(&order(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    found.truncate(most);
    found
}

fn generated(address: IpAddr, client: &Client, name: &str, odd: &GeneratedName) -> SuspiciousNameFacts {
    let score_parts = odd.score_parts;
    let share = client.nonexistent as f64 / client.answers.max(1) as f64;
    let share = (share * MAX_PART_POINTS * 10.0).round() / 10.0;
    SuspiciousNameFacts {
        name: clipped(name),
        kind: "generated",
        client: Some(address),
        count: odd.count,
        score: ((score_parts.score() + share) * 10.0).round() / 10.0,
        parts: BTreeMap::from([
            ("length", score_parts.length),
            ("entropy", score_parts.entropy),
            ("digits", score_parts.digits),
            ("vowels", score_parts.vowels),
            ("pairs", score_parts.pairs),
            ("nxdomain_share", share),
        ]),
        first_frame: odd.frame,
    }
}

fn below(parent: &ParentDomain) -> SuspiciousNameFacts {
    SuspiciousNameFacts {
        name: clipped(&parent.name),
        kind: "tunnel",
        client: parent.client,
        count: parent.odd,
        score: 0.0,
        parts: BTreeMap::from([
            ("names", parent.distinct() as f64),
            ("mean_label", parent.mean().round()),
            ("text_percent", (parent.text as f64 * 100.0 / parent.queries.max(1) as f64).round()),
            ("bytes_up", parent.up as f64),
            ("bytes_down", parent.down as f64),
        ]),
        first_frame: parent.frames.first().copied().unwrap_or(0),
    }
}
