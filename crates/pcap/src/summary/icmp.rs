//! Fills in the facts of ICMP: errors, paths, pings.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::facts::{IcmpFacts, UnreachableFacts};
use super::write::Choice;
use crate::flow::Percentiles;
use crate::icmp::{self, IcmpError, IcmpErrorCounts, PathMtus, QuotedError, Traceroutes, name};

/// How many types are distinguished; made-up ones could be thousands.
const MAX_TYPES: usize = 64;

/// Pings to one target.
#[derive(Debug, Clone, Serialize)]
pub struct EchoFacts {
    /// Who is asked.
    pub target: IpAddr,
    /// Echo requests that were sent.
    pub requests: u64,
    /// Requests that were answered.
    pub replies: u64,
    /// Requests that were not, though there was time.
    pub unanswered: u64,
    /// Requests about which somebody complained.
    #[serde(skip_serializing_if = "none")]
    pub refused: u64,
    /// Answers after more than a second.
    #[serde(skip_serializing_if = "none")]
    pub late: u64,
    /// Further answers to one request.
    #[serde(skip_serializing_if = "none")]
    pub duplicates: u64,
    /// How long answers took.
    pub rtt_ms: Option<Percentiles>,
}

/// How large packets may be on a path.
#[derive(Debug, Clone, Serialize)]
pub struct PathMtuFacts {
    /// Whose packets were too large.
    pub source: IpAddr,
    /// Where they were to go.
    pub destination: IpAddr,
    /// Who said so first.
    pub from: IpAddr,
    /// The smallest next hop that was named; 0 where none was.
    pub mtu: u32,
    /// How often it was said.
    pub count: u64,
    /// How often the source could have known and did not obey.
    pub ignored: u64,
    /// Where first.
    pub first_frame: u64,
}

/// A traceroute, or packets that ran out of hops.
#[derive(Debug, Clone, Serialize)]
pub struct TracerouteFacts {
    /// Who sent the packets.
    pub source: IpAddr,
    /// Where they were to go.
    pub destination: IpAddr,
    /// On purpose, as `traceroute` does.
    pub wanted: bool,
    /// The routers at which they ran out of hops.
    pub routers: Vec<IpAddr>,
    /// How often.
    pub count: u64,
}

/// A router that names another one.
#[derive(Debug, Clone, Serialize)]
pub struct RedirectFacts {
    /// The router.
    pub from: IpAddr,
    /// The other one.
    pub gateway: Option<IpAddr>,
    /// For what.
    pub destination: IpAddr,
    /// How often.
    pub count: u64,
    /// Where first.
    pub first_frame: u64,
}

/// What somebody said about a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IcmpErrorFacts {
    /// Who said it.
    pub from: IpAddr,
    /// What it means.
    pub meaning: &'static str,
    /// How often anything was said.
    pub count: u64,
    /// Where first.
    pub first_frame: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is that of a condition on a field")]
fn none(count: &u64) -> bool {
    *count == 0
}

/// Writes the account of complaints.
pub(super) fn errors(tally: &icmp::IcmpStats, choice: Choice) -> IcmpFacts {
    IcmpFacts {
        types: types(&tally.types),
        types_v6: types(&tally.types_v6),
        unreachable: unreachable(&tally.errors, choice),
        echo: echo(&tally.echo, choice),
        path_mtu: path_mtu(&tally.limits, choice),
        redirects: redirects(&tally.errors, choice),
        traces: traces(&tally.traces, choice),
    }
}

/// Returns what was said about a connection.
pub(super) fn about_flow(quoted: &QuotedError) -> IcmpErrorFacts {
    IcmpErrorFacts {
        from: quoted.from,
        meaning: name(quoted.six, quoted.kind, quoted.code),
        count: quoted.count,
        first_frame: quoted.frame,
    }
}

fn types(types: &BTreeMap<(u8, u8), u64>) -> BTreeMap<String, u64> {
    let mut most: Vec<_> = types.iter().collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    most.into_iter().take(MAX_TYPES).map(|((kind, code), count)| (format!("{kind}/{code}"), *count)).collect()
}

fn unreachable(
    errors: &BTreeMap<IcmpError, IcmpErrorCounts>,
    (most, focus): Choice,
) -> Vec<UnreachableFacts> {
    let mut found: Vec<UnreachableFacts> = errors
        .iter()
        .filter(|(icmp_error, _)| icmp_error.unreachable())
        .filter(|(icmp_error, _)| {
            focus.is_none_or(|focus| focus.is(icmp_error.from) || focus.is(icmp_error.about))
        })
        .map(|(icmp_error, counts)| UnreachableFacts {
            kind: icmp_error.kind,
            code: icmp_error.code,
            meaning: name(icmp_error.six, icmp_error.kind, icmp_error.code),
            from: icmp_error.from,
            about: about(icmp_error.about, icmp_error.port),
            count: counts.count,
            first_frame: counts.frames.first().copied().unwrap_or(0),
            mtu: (counts.mtu > 0).then_some(counts.mtu),
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    found.truncate(most);
    found
}

fn echo(echo: &icmp::Echo, (most, focus): Choice) -> Vec<EchoFacts> {
    let mut found: Vec<EchoFacts> = echo
        .targets
        .iter()
        .filter(|(target, _)| focus.is_none_or(|focus| focus.is(**target)))
        .map(|(target, known)| EchoFacts {
            target: *target,
            requests: known.requests,
            replies: known.replies,
            unanswered: known.unanswered,
            refused: known.refused,
            late: known.late,
            duplicates: known.again,
            rtt_ms: Percentiles::of(&known.rtts),
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse((entry.unanswered, entry.requests)));
    found.truncate(most);
    found
}

fn path_mtu(limits: &PathMtus, (most, focus): Choice) -> Vec<PathMtuFacts> {
    let mut found: Vec<PathMtuFacts> = limits
        .paths
        .iter()
        .map(|(net, limit)| PathMtuFacts {
            source: net.source(),
            destination: net.destination(),
            from: limit.from,
            mtu: limit.mtu,
            count: limit.count,
            ignored: limit.ignored(),
            first_frame: limit.frames.first().copied().unwrap_or(0),
        })
        .filter(|entry| focus.is_none_or(|focus| focus.is(entry.source) || focus.is(entry.destination)))
        .collect();
    found.sort_by_key(|entry| (std::cmp::Reverse(entry.count), entry.source, entry.destination));
    found.truncate(most);
    found
}

fn redirects(errors: &BTreeMap<IcmpError, IcmpErrorCounts>, (most, focus): Choice) -> Vec<RedirectFacts> {
    let mut found: Vec<RedirectFacts> = errors
        .iter()
        .filter(|(icmp_error, _)| icmp_error.redirect())
        .filter(|(icmp_error, _)| {
            focus.is_none_or(|focus| focus.is(icmp_error.from) || focus.is(icmp_error.about))
        })
        .map(|(icmp_error, counts)| RedirectFacts {
            from: icmp_error.from,
            gateway: icmp_error.gateway,
            destination: icmp_error.about,
            count: counts.count,
            first_frame: counts.frames.first().copied().unwrap_or(0),
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    found.truncate(most);
    found
}

fn traces(traces: &Traceroutes, (most, focus): Choice) -> Vec<TracerouteFacts> {
    let mut found: Vec<TracerouteFacts> = traces
        .paths
        .iter()
        .filter(|(_, trace)| !trace.routers.is_empty())
        .map(|(net, trace)| TracerouteFacts {
            source: net.source(),
            destination: net.destination(),
            wanted: trace.wanted(),
            routers: trace.routers.iter().map(|router| router.address).collect(),
            count: trace.routers.iter().map(|router| router.count).sum(),
        })
        .filter(|entry| focus.is_none_or(|focus| focus.is(entry.source) || focus.is(entry.destination)))
        .collect();
    found.sort_by_key(|entry| (std::cmp::Reverse(entry.count), entry.source, entry.destination));
    found.truncate(most);
    found
}

fn about(address: IpAddr, port: Option<u16>) -> String {
    port.map_or_else(|| address.to_string(), |port| SocketAddr::new(address, port).to_string())
}
