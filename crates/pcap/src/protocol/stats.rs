//! Statistics of all dissectors, and how payload reaches them.

use super::dissector::{self, Dissector, EarlySegments, SegmentData};
use super::quic::{self, ConnectionAttempt, Packet};
use super::{dhcp, http, ntp, tls, udp};
use crate::address_filter::AddressFilter;
use crate::layers::{IpPair, View};
use crate::tcp::{EndpointPair, Flow, Segment};

/// How many bytes all beginnings together may hold; with more, further ones are left alone.
const MAX_BUFFERED_BYTES: usize = 16 << 20;

/// Where something was said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketContext {
    /// Between whom.
    pub(crate) ends: EndpointPair,
    /// The second end said it.
    pub(crate) flipped: bool,
    /// In which frame.
    pub(crate) frame: u64,
    /// When.
    pub(crate) time: u64,
}

/// All that was decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProtocolStats {
    pub(crate) tls: tls::TlsStats,
    pub(crate) http: http::HttpStats,
    pub(crate) quic: quic::QuicStats,
    pub(crate) dhcp: dhcp::DhcpStats,
    pub(crate) ntp: ntp::NtpStats,
    /// Datagrams.
    pub(crate) udp: udp::UdpStats,
    /// Connections that were not listened to for want of room.
    left_out: u64,
    table: udp::Table,
    buffered_bytes: usize,
    scope: (bool, Option<AddressFilter>),
}

impl ProtocolStats {
    /// Creates an empty value.
    pub(crate) fn new(full: bool, focus: Option<AddressFilter>) -> Self {
        Self { scope: (full, focus), ..Self::default() }
    }

    /// Listens to a segment of a connection that is listened to.
    pub(crate) fn segment(&mut self, flow: &mut Flow, segment: &Segment<'_>, at: PacketContext) {
        let segment_data = SegmentData::new(flow, segment, at);
        let before = flow.dissector.buffered_bytes();
        let (dissector, early) = std::mem::take(&mut flow.dissector).choose(&segment_data);
        let mut dissector = self.dissect(dissector, &segment_data);
        if let Some(early) = early {
            dissector = self.dissect_early(dissector, &early, &segment_data, flow);
        }
        self.buffered_bytes = self.buffered_bytes.saturating_sub(before) + dissector.buffered_bytes();
        if self.buffered_bytes > MAX_BUFFERED_BYTES && dissector.buffered_bytes() > before {
            self.buffered_bytes = self.buffered_bytes.saturating_sub(dissector.buffered_bytes());
            self.left_out += 1;
            dissector = Dissector::Ignored;
        }
        flow.dissector = dissector;
    }

    fn dissect(&mut self, mut dissector: Dissector, segment_data: &SegmentData<'_>) -> Dissector {
        let over = match &mut dissector {
            Dissector::Tls(handshake) => handshake.take(segment_data, &mut self.tls),
            Dissector::Http(exchange) => exchange.take(segment_data, &mut self.http),
            Dissector::Undecided(_) | Dissector::EarlySegments(_) | Dissector::Ignored => false,
        };
        if over { Dissector::Ignored } else { dissector }
    }

    fn dissect_early(
        &mut self,
        mut so_far: Dissector,
        early: &EarlySegments,
        segment_data: &SegmentData<'_>,
        flow: &mut Flow,
    ) -> Dissector {
        for (flipped, seq, data) in &early.segments {
            let start = dissector::start(flow, *flipped);
            let (payload, at) =
                (View::new(data, data.len()), PacketContext { flipped: *flipped, ..segment_data.at });
            so_far = self.dissect(
                so_far,
                &SegmentData { at, seq: *seq, start, payload, closes: false, resets: false },
            );
        }
        so_far
    }

    /// Ends the dissection of a finished stream.
    pub(crate) fn over(&mut self, flow: &mut Flow, now: u64) {
        let dissector = std::mem::replace(&mut flow.dissector, Dissector::Ignored);
        self.buffered_bytes = self.buffered_bytes.saturating_sub(dissector.buffered_bytes());
        match dissector {
            Dissector::Tls(handshake) => handshake.finish(flow, now, &mut self.tls),
            Dissector::Http(exchange) => exchange.finish(flow, now, &mut self.http),
            Dissector::Undecided(_) | Dissector::EarlySegments(_) | Dissector::Ignored => {}
        }
    }

    /// Takes a datagram.
    pub(crate) fn datagram(&mut self, net: IpPair, ports: (u16, u16), payload: View<'_>, seen: (u64, u64)) {
        let (frame, time) = seen;
        let (ends, flipped) = EndpointPair::new(net, ports);
        let at = PacketContext { ends, flipped, frame, time };
        let (flow, gone) = self.table.take(at, payload.wire);
        if let Some(flow) = flow
            && let Some(packet) = quic::read(payload)
        {
            let server = match (&flow.quic, packet) {
                (Some(known), _) => Some(known.server()),
                // Who asks first is the client; who answers first was not asked here.
                (None, Packet::Initial(_)) if ports.1 <= ports.0 => Some(!flipped),
                (None, Packet::Initial(_)) => Some(flipped),
                (None, Packet::Negotiation | Packet::Other(_)) => None,
            };
            if let Some(server) = server {
                let attempt =
                    flow.quic.get_or_insert_with(|| Box::new(ConnectionAttempt::new(server, frame)));
                attempt.take(packet, flipped);
            }
        }
        if let Some(gone) = gone {
            self.udp.evicted += 1;
            self.silent(&gone, time);
        }
        match ports {
            (67 | 68, _) | (_, 67 | 68) => self.dhcp.take(payload, at, net.source()),
            (546 | 547, _) | (_, 546 | 547) => {
                self.dhcp.take_v6(payload, at, net.source(), net.destination());
            }
            (123, _) | (_, 123) => self.ntp.take(payload, at),
            _ => {}
        }
    }

    /// Adds a finished datagram flow.
    fn silent(&mut self, flow: &udp::Flow, now: u64) {
        let (full, focus) = self.scope;
        self.udp.take(flow, now, full, focus);
        if let Some(attempt) = flow.quic.as_deref() {
            let silent = flow.silence(now).is_some_and(|packets| attempt.only_opens(packets));
            self.quic.take(attempt, flow.end(attempt.server()), !silent);
        }
    }

    /// Returns how much was left out for want of room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
            + self.tls.left_out
            + self.http.left_out
            + self.quic.left_out
            + self.ntp.left_out
            + self.dhcp.left_out
    }

    /// Settles everything that is pending at `end`.
    pub(crate) fn finish(&mut self, end: u64) {
        for flow in std::mem::take(&mut self.table).into_flows() {
            self.silent(&flow, end);
        }
        self.ntp.finish(end);
    }
}
