//! Counts of ICMP of both versions, its errors, and the streams that errors quote.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::echo::Echo;
use super::path_mtu::PathMtus;
use super::traceroute::Traceroutes;
use crate::flow::State;
use crate::hash::Map;
use crate::layers::{HeaderContext, IpPair, Quote, View};

/// How many different complaints are distinguished.
const MAX_ERRORS: usize = 4096;
/// Maximum number of evidence frames of each.
const MAX_EVIDENCE_FRAMES: usize = 5;
/// Complaints further apart have nothing to do with each other.
const MINUTE: u64 = 60_000_000_000;

/// A complaint: type, code, who sent it, whom it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IcmpError {
    /// `ICMPv6`.
    pub(crate) six: bool,
    /// The type.
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// Who sent it.
    pub(crate) from: IpAddr,
    /// The destination that the quoted packet had.
    pub(crate) about: IpAddr,
    pub(crate) port: Option<u16>,
    /// The router that a redirect names instead.
    pub(crate) gateway: Option<IpAddr>,
}

/// How often, and where first.
#[derive(Debug, Clone, Default)]
pub(crate) struct IcmpErrorCounts {
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
pub(crate) struct IcmpStats {
    /// Type and code of the outermost `ICMPv4` header of each frame.
    pub(crate) types: BTreeMap<(u8, u8), u64>,
    /// The same for `ICMPv6`.
    pub(crate) types_v6: BTreeMap<(u8, u8), u64>,
    /// Complaints.
    pub(crate) errors: BTreeMap<IcmpError, IcmpErrorCounts>,
    /// Complaints for which there was no room.
    pub(crate) left_out: u64,
    /// Pings.
    pub(crate) echo: Echo,
    /// Paths on which packets ran out of hops.
    pub(crate) traces: Traceroutes,
    /// Paths on which packets were too large.
    pub(crate) limits: PathMtus,
    /// Connections that errors are about.
    pub(crate) quoted: QuotedErrors,
    seen: (u64, u64),
    /// What the last redirect said, and the last error.
    gateway: Option<IpAddr>,
    last_quoted: Option<QuotedError>,
}

impl IcmpStats {
    /// Takes a header.
    pub(crate) fn take(
        &mut self,
        six: bool,
        view: View<'_>,
        context: &HeaderContext,
        (frame, time): (u64, u64),
    ) {
        if context.quoted {
            self.echo.quoted(six, view, context.net);
            return;
        }
        let at = (frame, time);
        self.echo.take(six, view, context.net, context.hops, at);
        let (Some(kind), Some(code)) = (view.u8(0), view.u8(1)) else {
            return;
        };
        self.gateway = match (six, kind) {
            (false, 5) => view.bytes::<4>(4).map(IpAddr::from),
            (true, 137) => view.bytes::<16>(8).map(IpAddr::from),
            _ => None,
        };
        if six && kind == 137 {
            self.redirected(view, context, at);
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
    fn redirected(&mut self, view: View<'_>, context: &HeaderContext, at: (u64, u64)) {
        let (from, gateway) = (context.net.source(), self.gateway);
        if let Some(about) = view.bytes::<16>(24).map(IpAddr::from) {
            self.add_error(IcmpError { six: true, kind: 137, code: 0, from, about, port: None, gateway }, at);
        }
    }

    /// Takes what an error is about.
    pub(crate) fn about(
        &mut self,
        quote: &Quote,
        net: IpPair,
        ports: Option<(u16, u16)>,
        (frame, time): (u64, u64),
    ) {
        let (six, kind, code, from) = (quote.six, quote.kind, quote.code, quote.from.source());
        let port = ports.map(|(_, port)| port);
        self.last_quoted = Some(QuotedError { six, kind, code, from, count: 0, frame, state: None });
        match (six, kind, code) {
            (false, 11, 0) | (true, 3, 0) => self.traces.exceeded(from, net, port, frame),
            (false, 3, 4) | (true, 2, _) => self.limits.report(from, net, quote.mtu, (frame, time)),
            _ => {}
        }
        let gateway = if (six, kind) == (false, 5) { self.gateway } else { None };
        // Eight bytes of what a redirect is about say nothing of use about ports.
        let port = port.filter(|_| gateway.is_none());
        let icmp_error = IcmpError { six, kind, code, from, about: net.destination(), port, gateway };
        if let Some(counts) = self.add_error(icmp_error, (frame, time))
            && quote.mtu > 0
            && (counts.mtu == 0 || quote.mtu < counts.mtu)
        {
            counts.mtu = quote.mtu;
        }
    }

    /// Takes the header of the connection that the error just reported is about.
    pub(crate) fn about_flow(&mut self, net: IpPair, (source, destination): (u16, u16), frame: u64) {
        if let Some(quoted) = self.last_quoted.filter(|quoted| quoted.frame == frame) {
            let ends =
                (SocketAddr::new(net.source(), source), SocketAddr::new(net.destination(), destination));
            self.quoted.take(ends, quoted);
        }
    }

    /// Takes any packet: some tell whether what was complained about goes on.
    #[inline]
    pub(crate) fn packet(&mut self, packet: View<'_>, context: &HeaderContext, time: u64) {
        self.traces.packet(context.net, context.hops);
        self.limits.packet(context.net, packet, time);
    }

    fn add_error(
        &mut self,
        icmp_error: IcmpError,
        (frame, time): (u64, u64),
    ) -> Option<&mut IcmpErrorCounts> {
        if self.errors.len() >= MAX_ERRORS && !self.errors.contains_key(&icmp_error) {
            self.left_out += 1;
            return None;
        }
        let counts = self.errors.entry(icmp_error).or_default();
        counts.count += 1;
        counts.add(time);
        if counts.frames.len() < MAX_EVIDENCE_FRAMES {
            counts.frames.push(frame);
        }
        Some(counts)
    }
}

impl IcmpErrorCounts {
    fn add(&mut self, time: u64) {
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

impl IcmpError {
    /// Tells whether it means that something cannot be reached.
    pub(crate) fn unreachable(&self) -> bool {
        if self.six { matches!(self.kind, 1 | 2) } else { self.kind == 3 }
    }

    /// Tells whether it names another router.
    pub(crate) fn redirect(&self) -> bool {
        self.kind == if self.six { 137 } else { 5 }
    }
}

/// How many connections are remembered.
const MAX_FLOWS: usize = 4096;

/// What somebody said about a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuotedError {
    /// `ICMPv6`.
    pub(crate) six: bool,
    /// The type.
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// Who said it.
    pub(crate) from: IpAddr,
    /// How often anything was said.
    pub(crate) count: u64,
    /// Where first.
    pub(crate) frame: u64,
    /// How far the connection came, once that is known.
    pub(crate) state: Option<State>,
}

/// From who sent the quoted packet to whom it went.
pub(crate) type EndpointKey = (SocketAddr, SocketAddr);

/// All connections that errors are about.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuotedErrors {
    flows: Map<EndpointKey, QuotedError>,
    /// Errors about connections for which there was no room.
    pub(crate) left_out: u64,
}

impl QuotedErrors {
    /// Takes an error about a connection; of several the first is kept.
    pub(crate) fn take(&mut self, key: EndpointKey, quoted: QuotedError) {
        if self.flows.len() >= MAX_FLOWS && !self.flows.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        self.flows.entry(key).or_insert(QuotedError { count: 0, ..quoted }).count += 1;
    }

    /// Returns what was said about a connection, whichever end's packet was quoted.
    pub(crate) fn about(&self, (a, b): EndpointKey) -> Option<&QuotedError> {
        if self.flows.is_empty() {
            return None;
        }
        self.flows.get(&(a, b)).or_else(|| self.flows.get(&(b, a)))
    }

    /// Notes how far a connection came.
    pub(crate) fn over(&mut self, (a, b): EndpointKey, state: impl FnOnce() -> State) {
        if self.flows.is_empty() {
            return;
        }
        let key = if self.flows.contains_key(&(a, b)) { (a, b) } else { (b, a) };
        if let Some(quoted) = self.flows.get_mut(&key) {
            quoted.state = Some(state());
        }
    }

    /// Returns the connections to a destination about which somebody said something, the first first.
    pub(crate) fn to(
        &self,
        from: IpAddr,
        kind: (bool, u8, u8),
        to: SocketAddr,
    ) -> Vec<(EndpointKey, QuotedError)> {
        let meant =
            |quoted: &QuotedError| quoted.from == from && (quoted.six, quoted.kind, quoted.code) == kind;
        let mut found: Vec<(EndpointKey, QuotedError)> = self
            .flows
            .iter()
            .filter(|(key, quoted)| key.1 == to && meant(quoted))
            .map(|(key, quoted)| (*key, *quoted))
            .collect();
        found.sort_by_key(|(_, quoted)| quoted.frame);
        found
    }
}
