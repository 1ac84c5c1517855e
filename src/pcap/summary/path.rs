//! What is told of complaints.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::kind::{IcmpFacts, UnreachableFacts};
use super::write::Choice;
use crate::pcap::icmp::{self, Complaint, Heard};

/// Writes the account of complaints.
pub(super) fn complaints(tally: &icmp::Tally, choice: Choice) -> IcmpFacts {
    IcmpFacts {
        types: types(&tally.types),
        types_v6: types(&tally.types_v6),
        unreachable: unreachable(&tally.complaints, choice),
    }
}

fn types(types: &BTreeMap<(u8, u8), u64>) -> BTreeMap<String, u64> {
    types.iter().map(|((kind, code), count)| (format!("{kind}/{code}"), *count)).collect()
}

fn unreachable(complaints: &BTreeMap<Complaint, Heard>, (most, focus): Choice) -> Vec<UnreachableFacts> {
    let mut found: Vec<UnreachableFacts> = complaints
        .iter()
        .filter(|(complaint, _)| complaint.unreachable())
        .filter(|(told, _)| focus.is_none_or(|focus| focus.is(told.from) || focus.is(told.about)))
        .map(|(complaint, heard)| UnreachableFacts {
            kind: complaint.kind,
            code: complaint.code,
            from: complaint.from,
            about: about(complaint.about, complaint.port),
            count: heard.count,
            first_frame: heard.frames.first().copied().unwrap_or(0),
            mtu: (heard.mtu > 0).then_some(heard.mtu),
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    found.truncate(most);
    found
}

fn about(address: IpAddr, port: Option<u16>) -> String {
    port.map_or_else(|| address.to_string(), |port| SocketAddr::new(address, port).to_string())
}
