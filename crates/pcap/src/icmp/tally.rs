//! ICMP of both versions: what there was, and what routers said about whom.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::echo::Echo;
use super::mtu::Limits;
use super::quoted::{Quoted, Said};
use super::trace::Traces;
use crate::layers::{Net, Place, Quote, View};

/// How many different complaints are told apart.
const MOST: usize = 4096;
/// How many frames are kept of each.
const EVIDENCE: usize = 5;
/// Complaints further apart have nothing to do with each other.
const MINUTE: u64 = 60_000_000_000;

/// A complaint: type, code, who sent it, whom it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    /// `ICMPv6`.
    pub(crate) six: bool,
    /// The type.
    pub(crate) kind: u8,
    /// The code.
    pub(crate) code: u8,
    /// Who sent it.
    pub(crate) from: IpAddr,
    /// The destination that the quoted packet had.
    pub(crate) about: IpAddr,
    /// Its port.
    pub(crate) port: Option<u16>,
    /// The router that a redirect names instead.
    pub(crate) gateway: Option<IpAddr>,
}

/// How often, and where first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    /// How often.
    pub(crate) count: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
    /// The smallest next-hop MTU that was named; 0 for none.
    pub(crate) mtu: u32,
    /// The most that came within a minute, as far as it matters: up to three.
    pub(crate) dense: u64,
    /// When the last two came.
    recent: [u64; 2],
}

/// All of ICMP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Type and code of the outermost `ICMPv4` header of each frame.
    pub(crate) types: BTreeMap<(u8, u8), u64>,
    /// The same for `ICMPv6`.
    pub(crate) types_v6: BTreeMap<(u8, u8), u64>,
    /// Complaints.
    pub(crate) complaints: BTreeMap<Complaint, Heard>,
    /// Complaints for which there was no room.
    pub(crate) left_out: u64,
    /// Pings.
    pub(crate) echo: Echo,
    /// Ways on which packets ran out of hops.
    pub(crate) traces: Traces,
    /// Ways on which packets were too large.
    pub(crate) limits: Limits,
    /// Connections that errors are about.
    pub(crate) quoted: Quoted,
    seen: (u64, u64),
    /// What the last redirect said, and the last error.
    gateway: Option<IpAddr>,
    said: Option<Said>,
}

impl Tally {
    /// Takes a header.
    pub(crate) fn take(&mut self, six: bool, view: View<'_>, place: &Place, (frame, time): (u64, u64)) {
        if place.quoted {
            self.echo.quoted(six, view, place.net);
            return;
        }
        let at = (frame, time);
        self.echo.take(six, view, place.net, place.hops, at);
        let (Some(kind), Some(code)) = (view.u8(0), view.u8(1)) else {
            return;
        };
        self.gateway = match (six, kind) {
            (false, 5) => view.bytes::<4>(4).map(IpAddr::from),
            (true, 137) => view.bytes::<16>(8).map(IpAddr::from),
            _ => None,
        };
        if six && kind == 137 {
            self.redirected(view, place, at);
        }
        let seen = if six { &mut self.seen.1 } else { &mut self.seen.0 };
        if *seen == frame {
            return;
        }
        *seen = frame;
        let types = if six { &mut self.types_v6 } else { &mut self.types };
        *types.entry((kind, code)).or_default() += 1;
    }

    /// A redirect of version 6 names its destination itself.
    fn redirected(&mut self, view: View<'_>, place: &Place, at: (u64, u64)) {
        let (from, gateway) = (place.net.source(), self.gateway);
        if let Some(about) = view.bytes::<16>(24).map(IpAddr::from) {
            self.complain(Complaint { six: true, kind: 137, code: 0, from, about, port: None, gateway }, at);
        }
    }

    /// Takes what an error is about.
    pub(crate) fn about(
        &mut self,
        quote: &Quote,
        net: Net,
        ports: Option<(u16, u16)>,
        (frame, time): (u64, u64),
    ) {
        let (six, kind, code, from) = (quote.six, quote.kind, quote.code, quote.from.source());
        let port = ports.map(|(_, port)| port);
        self.said = Some(Said { six, kind, code, from, count: 0, frame, state: None });
        match (six, kind, code) {
            (false, 11, 0) | (true, 3, 0) => self.traces.exceeded(from, net, port, frame),
            (false, 3, 4) | (true, 2, _) => self.limits.told(from, net, quote.mtu, (frame, time)),
            _ => {}
        }
        let gateway = if (six, kind) == (false, 5) { self.gateway } else { None };
        // Eight bytes of what a redirect is about say nothing of use about ports.
        let port = port.filter(|_| gateway.is_none());
        let complaint = Complaint { six, kind, code, from, about: net.destination(), port, gateway };
        if let Some(heard) = self.complain(complaint, (frame, time))
            && quote.mtu > 0
            && (heard.mtu == 0 || quote.mtu < heard.mtu)
        {
            heard.mtu = quote.mtu;
        }
    }

    /// Takes the header of the connection that the error just told is about.
    pub(crate) fn about_flow(&mut self, net: Net, (source, destination): (u16, u16), frame: u64) {
        if let Some(said) = self.said.filter(|said| said.frame == frame) {
            let ends =
                (SocketAddr::new(net.source(), source), SocketAddr::new(net.destination(), destination));
            self.quoted.take(ends, said);
        }
    }

    /// Takes any packet: some tell whether what was complained about goes on.
    #[inline]
    pub(crate) fn packet(&mut self, packet: View<'_>, place: &Place, time: u64) {
        self.traces.packet(place.net, place.hops);
        self.limits.packet(place.net, packet, time);
    }

    fn complain(&mut self, complaint: Complaint, (frame, time): (u64, u64)) -> Option<&mut Heard> {
        if self.complaints.len() >= MOST && !self.complaints.contains_key(&complaint) {
            self.left_out += 1;
            return None;
        }
        let heard = self.complaints.entry(complaint).or_default();
        heard.count += 1;
        heard.hear(time);
        if heard.frames.len() < EVIDENCE {
            heard.frames.push(frame);
        }
        Some(heard)
    }
}

impl Heard {
    fn hear(&mut self, time: u64) {
        let [before, last] = self.recent;
        let near = |other: u64| time.saturating_sub(other) <= MINUTE;
        let dense = match self.count {
            1 => 1,
            2 => 1 + u64::from(near(last)),
            _ => 1 + u64::from(near(last)) + u64::from(near(before)),
        };
        self.dense = self.dense.max(dense);
        self.recent = [last, time];
    }
}

impl Complaint {
    /// Says whether it means that something cannot be reached.
    pub(crate) fn unreachable(&self) -> bool {
        if self.six { matches!(self.kind, 1 | 2) } else { self.kind == 3 }
    }

    /// Says whether it names another router.
    pub(crate) fn redirect(&self) -> bool {
        self.kind == if self.six { 137 } else { 5 }
    }
}
