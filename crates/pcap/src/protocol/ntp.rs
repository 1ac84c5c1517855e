//! NTP: who asks which clock, and what the clock says of itself.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::occurrences::Occurrences;
use super::stats::PacketContext;
use crate::hash::Map;
use crate::histogram::Histogram;
use crate::layers::View;
use crate::tcp::EndpointPair;

const MAX_SERVERS: usize = 1024;
const MAX_OPEN_REQUESTS: usize = 16_384;
/// How long an answer may take, in nanoseconds.
const ANSWER_TIMEOUT: u64 = 2_000_000_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct NtpServer {
    /// Questions to it.
    pub(crate) requests: u64,
    /// Answers of it.
    pub(crate) responses: u64,
    /// Questions that it never answered, though there was time.
    pub(crate) unanswered: Occurrences,
    /// Answers that tell clients to keep away.
    pub(crate) kisses: Occurrences,
    /// What they say.
    pub(crate) codes: BTreeMap<&'static str, u64>,
    /// Answers that say that the clock is not set.
    pub(crate) unset: Occurrences,
    /// How far it is from a reference clock, as it said last.
    pub(crate) stratum: Option<u8>,
    /// How long its answers took.
    pub(crate) latency: Histogram,
}

#[derive(Debug, Clone)]
struct OpenRequest {
    count: u64,
    time: u64,
    frame: u64,
    sent: [u8; 8],
}

/// All of NTP.
#[derive(Debug, Clone, Default)]
pub(crate) struct NtpStats {
    pub(crate) servers: BTreeMap<IpAddr, NtpServer>,
    /// Questions that wait, by their ends and who asks.
    open: Map<(EndpointPair, bool), OpenRequest>,
    /// Messages of servers that there was no room for.
    pub(crate) left_out: u64,
}

impl NtpStats {
    /// Takes a message.
    pub(super) fn take(&mut self, view: View<'_>, at: PacketContext) {
        let (Some(first), true) = (view.u8(0), view.wire >= 48) else {
            return;
        };
        let (leap, version, mode) = (first >> 6, (first >> 3) & 7, first & 7);
        if !(1..=4).contains(&version) {
            return;
        }
        match mode {
            3 => self.asked(view.bytes(40).unwrap_or_default(), at),
            4 => self.answered(leap, view, at),
            _ => {}
        }
    }

    fn asked(&mut self, sent: [u8; 8], at: PacketContext) {
        let key = (at.ends, at.flipped);
        // Captures on several interfaces see the same question twice.
        if sent != [0; 8] && self.open.get(&key).is_some_and(|open| open.sent == sent) {
            return;
        }
        if let Some(server) = self.server(at, !at.flipped) {
            server.requests += 1;
        }
        if self.open.len() < MAX_OPEN_REQUESTS || self.open.contains_key(&key) {
            let open = self.open.entry(key).or_insert(OpenRequest {
                count: 0,
                time: at.time,
                frame: at.frame,
                sent,
            });
            open.count += 1;
            open.sent = sent;
            open.time = at.time;
        } else {
            self.left_out += 1;
        }
    }

    fn answered(&mut self, leap: u8, view: View<'_>, at: PacketContext) {
        let open = self.open.remove(&(at.ends, !at.flipped));
        let Some(server) = self.server(at, at.flipped) else {
            return;
        };
        server.responses += 1;
        if let Some(open) = open {
            if let Some(took) = at.time.checked_sub(open.time) {
                server.latency.add(took);
            }
            // One answer answers one question: the ones before it waited in vain.
            server.unanswered.more(open.count - 1, open.frame);
        }
        let stratum = view.u8(1);
        let code = match (stratum, view.bytes::<4>(12)) {
            (Some(0), Some(code)) => match &code {
                b"DENY" => Some("DENY"),
                b"RSTR" => Some("RSTR"),
                b"RATE" => Some("RATE"),
                _ => None,
            },
            _ => None,
        };
        if let Some(code) = code {
            server.kisses.add(at.frame);
            *server.codes.entry(code).or_default() += 1;
        } else if leap == 3 || stratum.is_some_and(|stratum| stratum == 0 || stratum >= 16) {
            server.unset.add(at.frame);
        }
        server.stratum = stratum;
    }

    fn server(&mut self, at: PacketContext, second: bool) -> Option<&mut NtpServer> {
        let (first, other) = at.ends.sockets();
        let address = if second { other.ip() } else { first.ip() };
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&address) {
            self.left_out += 1;
            return None;
        }
        Some(self.servers.entry(address).or_default())
    }

    /// Ends the waiting at a time.
    pub(super) fn finish(&mut self, end: u64) {
        let mut left: Vec<((EndpointPair, bool), OpenRequest)> = self.open.drain().collect();
        left.sort_by_key(|(_, open)| open.frame);
        for ((ends, flipped), open) in left {
            let late = end.saturating_sub(open.time) < ANSWER_TIMEOUT;
            let at = PacketContext { ends, flipped, frame: open.frame, time: open.time };
            if let Some(server) = self.server(at, !flipped) {
                server.unanswered.more(open.count - u64::from(late), open.frame);
            }
        }
    }
}
