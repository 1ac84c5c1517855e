//! Who listens to what.

use super::ear::{self, Ear, Early, Heard};
use super::quic::{self, Attempt, Packet};
use super::{dhcp, http, ntp, tls, udp};
use crate::focus::Focus;
use crate::layers::{Net, View};
use crate::tcp::{Ends, Flow, Segment};

/// How many bytes all beginnings together may hold; with more, further ones are left alone.
const MOST_HELD: usize = 16 << 20;

/// Where something was said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    /// Between whom.
    pub(crate) ends: Ends,
    /// The second end said it.
    pub(crate) flipped: bool,
    /// In which frame.
    pub(crate) frame: u64,
    /// When.
    pub(crate) time: u64,
}

/// All that was heard.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// TLS.
    pub(crate) tls: tls::Tally,
    /// HTTP/1.
    pub(crate) http: http::Tally,
    /// QUIC.
    pub(crate) quic: quic::Tally,
    /// DHCP.
    pub(crate) dhcp: dhcp::Tally,
    /// NTP.
    pub(crate) ntp: ntp::Tally,
    /// Datagrams.
    pub(crate) udp: udp::Overview,
    /// Connections that were not listened to for want of room.
    left_out: u64,
    table: udp::Table,
    held: usize,
    scope: (bool, Option<Focus>),
}

impl Tally {
    /// Begins.
    pub(crate) fn new(full: bool, focus: Option<Focus>) -> Self {
        Self { scope: (full, focus), ..Self::default() }
    }

    /// Listens to a segment of a connection that is listened to.
    pub(crate) fn segment(&mut self, flow: &mut Flow, segment: &Segment<'_>, at: At) {
        let heard = Heard::new(flow, segment, at);
        let before = flow.ear.held();
        let (ear, early) = std::mem::take(&mut flow.ear).decided(&heard);
        let mut ear = self.hear(ear, &heard);
        if let Some(early) = early {
            ear = self.hear_early(ear, &early, &heard, flow);
        }
        self.held = self.held.saturating_sub(before) + ear.held();
        if self.held > MOST_HELD && ear.held() > before {
            self.held = self.held.saturating_sub(ear.held());
            self.left_out += 1;
            ear = Ear::Deaf;
        }
        flow.ear = ear;
    }

    fn hear(&mut self, mut ear: Ear, heard: &Heard<'_>) -> Ear {
        let over = match &mut ear {
            Ear::Tls(shake) => shake.take(heard, &mut self.tls),
            Ear::Http(exchange) => exchange.take(heard, &mut self.http),
            Ear::Waiting(_) | Ear::Early(_) | Ear::Deaf => false,
        };
        if over { Ear::Deaf } else { ear }
    }

    fn hear_early(&mut self, mut so_far: Ear, early: &Early, heard: &Heard<'_>, flow: &mut Flow) -> Ear {
        for (flipped, seq, data) in &early.segments {
            let start = ear::start(flow, *flipped);
            let (payload, at) = (View::new(data, data.len()), At { flipped: *flipped, ..heard.at });
            so_far =
                self.hear(so_far, &Heard { at, seq: *seq, start, payload, closes: false, resets: false });
        }
        so_far
    }

    /// Takes leave of a connection that is over, at a time.
    pub(crate) fn over(&mut self, flow: &mut Flow, now: u64) {
        let ear = std::mem::replace(&mut flow.ear, Ear::Deaf);
        self.held = self.held.saturating_sub(ear.held());
        match ear {
            Ear::Tls(shake) => shake.finish(flow, now, &mut self.tls),
            Ear::Http(exchange) => exchange.finish(flow, now, &mut self.http),
            Ear::Waiting(_) | Ear::Early(_) | Ear::Deaf => {}
        }
    }

    /// Takes a datagram.
    pub(crate) fn datagram(&mut self, net: Net, ports: (u16, u16), payload: View<'_>, seen: (u64, u64)) {
        let (frame, time) = seen;
        let (ends, flipped) = Ends::new(net, ports);
        let at = At { ends, flipped, frame, time };
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
                let attempt = flow.quic.get_or_insert_with(|| Box::new(Attempt::new(server, frame)));
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
                self.dhcp.take_newer(payload, at, net.source(), net.destination());
            }
            (123, _) | (_, 123) => self.ntp.take(payload, at),
            _ => {}
        }
    }

    /// Takes leave of a conversation.
    fn silent(&mut self, flow: &udp::Flow, now: u64) {
        let (full, focus) = self.scope;
        self.udp.take(flow, now, full, focus);
        if let Some(attempt) = flow.quic.as_deref() {
            let silent = flow.silence(now).is_some_and(|packets| attempt.only_opens(packets));
            self.quic.take(attempt, flow.end(attempt.server()), !silent);
        }
    }

    /// Returns how much was left out for want of room.
    pub(crate) fn not_told(&self) -> u64 {
        self.left_out
            + self.tls.left_out
            + self.http.left_out
            + self.quic.left_out
            + self.ntp.left_out
            + self.dhcp.left_out
    }

    /// Ends all waiting at a time.
    pub(crate) fn finish(&mut self, end: u64) {
        for flow in std::mem::take(&mut self.table).into_flows() {
            self.silent(&flow, end);
        }
        self.ntp.finish(end);
    }
}
