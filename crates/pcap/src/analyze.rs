//! The analysis pass: takes frames and produces a summary.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::address_filter::AddressFilter;
use super::compare::Services;
use super::count::Counts;
use super::findings::{self, Finding};
use super::flow::{FlowStats, state};
use super::label::{Label, Labels};
use super::layers::{Arp, FragmentCounts, HeaderContext, IpPair, Quote, Sink, View, Walker};
use super::read::{Frame, ReadSummary};
use super::routing_loop::RoutingLoops;
use super::series::{Series, measured};
use super::storm::Storms;
use super::summary::{self, Summary};
use super::tcp::{DuplicateDetector, EndpointPair, FIN, Flow, RST, SYN, Segment, SynRejection, Table};
use super::{arp, dns, icmp, protocol};

/// How many copies are kept as evidence.
const MAX_COPY_FRAMES: usize = 5;

/// How many frames of a label are listed unless everything is asked for.
const MAX_LISTED_FRAMES: usize = 1_000_000;

/// How much is reported, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Everything that is known rather than the most important.
    pub full: bool,
    /// The frames of this label are listed.
    pub frames: Option<Label>,
    /// Lists are about this address, or this port of it, alone.
    pub focus: Option<AddressFilter>,
    /// What pictures are drawn from is gathered, too.
    pub pictures: bool,
}

/// Takes frames one after another and gives an account of them at the end.
#[derive(Debug, Clone, Default)]
pub struct Analyzer {
    walker: Walker,
    pass: Pass,
}

impl Analyzer {
    /// Begins a pass.
    #[must_use]
    pub fn new(scope: Scope) -> Self {
        let pass = Pass {
            scope,
            flows: FlowStats::new(scope.full, scope.focus),
            protocols: protocol::ProtocolStats::new(scope.full, scope.focus),
            shortest: usize::MAX,
            series: scope.pictures.then(|| Box::new(Series::new(scope.focus))),
            ..Pass::default()
        };
        Self { walker: Walker::default(), pass }
    }

    /// Takes a frame and returns its labels.
    pub fn feed(&mut self, frame: &Frame<'_>) -> Labels {
        self.pass.begin(frame);
        self.walker.walk(frame, &mut self.pass);
        self.pass.end(frame.number)
    }

    /// Returns how many bytes behind an IP header every packet has, as far as it ever had them.
    pub(super) fn shortest(&self) -> usize {
        self.pass.shortest
    }

    /// Returns what is wrong by now, as if the capture ended here, all of it. Costs a copy of what is remembered.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut pass = self.pass.clone();
        pass.scope.full = true;
        pass.settle(self.walker.clone().finish(pass.counts.last));
        pass.dns.finish(pass.counts.last);
        pass.icmp.echo.finish(pass.counts.last);
        findings::find(&pass).0
    }

    /// Makes it note how each service fares, for a comparison.
    pub(super) fn with_services(mut self) -> Self {
        self.pass.services = Some(Services::default());
        self
    }

    /// Ends the pass.
    #[must_use]
    pub fn finish(self, ending: &ReadSummary) -> Summary {
        self.finish_with_services(ending).0
    }

    /// Ends the pass, and returns how each service fared.
    pub(super) fn finish_with_services(mut self, ending: &ReadSummary) -> (Summary, Services) {
        let mut pass = self.pass;
        let evicted = pass.settle(self.walker.finish(pass.counts.last));
        let services = pass.services.take().unwrap_or_default();
        (summary::write(pass, ending, evicted, self.walker.fragments_given_up()), services)
    }
}

/// Takes frames from wherever they come.
///
/// ```
/// use ghost_pcap::{Analyzer, ReadSummary, Format, Frame, Scope};
///
/// let ring = [[0_u8; 60], [1; 60]];
/// let mut analyzer = Analyzer::new(Scope::default());
/// analyzer.extend((1..).zip(&ring).map(|(number, data)| {
///     Frame { number, time: number * 1000, interface: 0, link: 1, wire: data.len(), data }
/// }));
/// assert_eq!(analyzer.finish(&ReadSummary::new(Format::Pcap)).file.packets, 2);
/// ```
impl<'a> Extend<Frame<'a>> for Analyzer {
    fn extend<T: IntoIterator<Item = Frame<'a>>>(&mut self, frames: T) {
        for frame in frames {
            self.feed(&frame);
        }
    }
}

/// Everything that is remembered of the frames so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    pub(super) scope: Scope,
    pub(super) counts: Counts,
    pub(super) flows: FlowStats,
    pub(super) dns: dns::DnsStats,
    pub(super) icmp: icmp::IcmpStats,
    pub(super) arp: arp::NeighborStats,
    pub(super) ndp: arp::NeighborStats,
    pub(super) routing_loops: RoutingLoops,
    pub(super) pairs: BTreeMap<(IpAddr, IpAddr), FragmentCounts>,
    pub(super) storms: Storms,
    pub(super) protocols: protocol::ProtocolStats,
    pub(super) listed: Vec<u64>,
    /// Frames that are not in that list for want of room.
    pub(super) unlisted: u64,
    /// What pictures are drawn from, where they are wanted.
    pub(super) series: Option<Box<Series>>,
    services: Option<Services>,
    /// Of packets that were captured in part, how much at least was captured behind the IP header.
    shortest: usize,
    table: Table,
    copies: DuplicateDetector,
    /// The ICMP error that was reported last, and its frame.
    quote: Option<(u64, Quote)>,
    number: u64,
    time: u64,
    labels: Labels,
}

impl Pass {
    /// Takes every connection for over, and what came of fragments; returns how many connections had to be over before.
    fn settle(&mut self, pairs: BTreeMap<(IpAddr, IpAddr), FragmentCounts>) -> u64 {
        self.pairs = pairs;
        let table = std::mem::take(&mut self.table);
        let evicted = table.evicted();
        let flows = table.into_flows();
        self.flows.end(self.counts.last, flows.iter());
        let last = self.counts.last;
        for mut flow in flows {
            self.protocols.over(&mut flow, last);
            self.icmp.quoted.over(flow.ends.sockets(), || state(&flow));
            self.flows.take(&flow);
            self.services.iter_mut().for_each(|services| services.take(&flow));
        }
        self.protocols.finish(last);
        evicted
    }

    fn begin(&mut self, frame: &Frame<'_>) {
        self.number = frame.number;
        self.time = frame.time;
        self.labels = Labels::default();
        self.counts.frame(frame);
        if let Some(series) = &mut self.series {
            series.begin(frame);
        }
        self.storms.take(frame);
    }

    fn end(&mut self, number: u64) -> Labels {
        self.counts.labels(self.labels, number);
        if let Some(series) = &mut self.series {
            series.end(self.labels);
        }
        if self.scope.frames.is_some_and(|label| self.labels.has(label)) {
            if self.scope.full || self.listed.len() < MAX_LISTED_FRAMES {
                self.listed.push(number);
            } else {
                self.unlisted += 1;
            }
        }
        self.labels
    }

    /// Tells a connection that an ICMP error quotes its SYN; eight bytes of it are enough.
    fn reject_quoted_syn(&mut self, view: View<'_>, context: &HeaderContext) {
        let Some((_, quote)) = self.quote.filter(|(frame, _)| *frame == self.number) else {
            return;
        };
        if let (Some(source), Some(destination), Some(seq)) = (view.u16(0), view.u16(2), view.u32(4)) {
            let (ends, flipped) = EndpointPair::new(context.net, (source, destination));
            if let Some(flow) = self.table.known(ends)
                && let Some(rejection) = SynRejection::by(&quote, self.number)
            {
                flow.reject_syn(rejection, seq, flipped);
            }
        }
    }

    /// Labels that the flags alone give.
    fn flagged(&mut self, segment: &Segment<'_>) {
        if !segment.sound {
            return;
        }
        if segment.opens() {
            self.labels.set(Label::Syn);
        } else if segment.accepts() {
            self.labels.set(Label::SynAck);
        }
        if segment.any(FIN) {
            self.labels.set(Label::Fin);
        }
        if segment.any(RST) {
            self.labels.set(Label::Reset);
        }
    }
}

/// Finds the connection of a segment. A SYN with another initial number begins a new one.
fn connection<'a>(
    table: &'a mut Table,
    segment: &Segment<'_>,
    (ends, flipped): (EndpointPair, bool),
    labels: &mut Labels,
) -> Option<&'a mut Flow> {
    let context = table.index_of(ends, flipped);
    if segment.any(SYN) {
        let own = table.get_mut(context)?.pair(flipped).0;
        let other = own.isn.is_some_and(|isn| isn != segment.seq);
        if other {
            labels.set(Label::ReusedPorts);
        }
        if segment.accepts() && other {
            own.isn = Some(segment.seq);
        } else if segment.opens() && other {
            table.replace(context);
        } else if segment.opens() && own.isn.is_some() {
            own.next = own.contig;
        }
    }
    table.get_mut(context)
}

/// Tells whether a segment can hold messages that were not there before.
fn has_new_data(labels: Labels) -> bool {
    let again = labels.has(Label::Retransmission) && !labels.has(Label::FastRetransmission);
    !again && !labels.has(Label::KeepAlive) && !labels.has(Label::OutOfOrder)
}

impl Sink for Pass {
    fn mark(&mut self, label: Label) {
        self.labels.set(label);
    }

    fn tcp(&mut self, view: View<'_>, context: &HeaderContext) {
        if context.quoted {
            self.reject_quoted_syn(view, context);
        }
        let Some(mut segment) = Segment::read(view, !context.quoted && !context.fragment) else {
            return;
        };
        (segment.hops, segment.id, segment.vlan) = (context.hops, context.id, context.vlan);
        self.flagged(&segment);
        let (ends, flipped) = EndpointPair::new(context.net, segment.ports);
        let Self { table, flows, dns, labels, series, copies, icmp, services, protocols, .. } = self;
        segment.memory_limited = table.memory_limited();
        let mut found = Labels::default();
        let Some(flow) = connection(table, &segment, (ends, flipped), &mut found) else {
            return;
        };
        let resolver = matches!(segment.ports, (53 | 5353, _) | (_, 53 | 5353));
        if context.quoted {
            icmp.about_flow(context.net, segment.ports, self.number);
            if resolver && segment.payload().holds(6) {
                labels.set(Label::Dns);
            }
        } else {
            let known = measured(flow);
            let ago = copies.time_since_copy(context.net, &segment, self.time);
            let taken = flow.take(&segment, flipped, (self.number, self.time), ago);
            if flow.copied && flows.copied.len() < MAX_COPY_FRAMES {
                flows.copied.push(self.number);
            }
            if flow.ack_time > 0 {
                flows.acks.add(flow.ack_time);
            }
            found.join(taken);
            if !segment.complete {
                found = Labels::default();
            }
            flow.note(found, flipped, self.number);
            if let Some(series) = series {
                series.segment(flow, &segment, (flipped, self.number, known), found);
            }
            labels.join(found);
            if flow.dissector.is_active() && (segment.payload().wire > 0 || segment.any(FIN | RST)) {
                let at = protocol::PacketContext { ends, flipped, frame: self.number, time: self.time };
                protocols.segment(flow, &segment, at);
            }
            if resolver && has_new_data(found) && segment.payload().wire > 0 {
                let streams = flow.dns.get_or_insert_default();
                let at =
                    dns::MessageContext { ends, flipped, frame: self.number, time: self.time, stream: true };
                let [first, second] = &mut **streams;
                let stream = if flipped { second } else { first };
                stream.take(segment.seq, segment.payload(), |message| {
                    labels.set(Label::Dns);
                    if let Some(message) = dns::Message::read(message) {
                        dns.take(&message, at);
                    }
                });
            }
        }
        while let Some(mut flow) = table.departed() {
            protocols.over(&mut flow, self.time);
            icmp.quoted.over(flow.ends.sockets(), || state(&flow));
            flows.take(&flow);
            services.iter_mut().for_each(|services| services.take(&flow));
        }
    }

    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, context: &HeaderContext) {
        if !context.quoted {
            self.protocols.datagram(context.net, ports, payload, (self.number, self.time));
        }
    }

    fn dns(&mut self, ports: (u16, u16), message: View<'_>, context: &HeaderContext) {
        let (ends, flipped) = EndpointPair::new(context.net, ports);
        let at = dns::MessageContext { ends, flipped, frame: self.number, time: self.time, stream: false };
        match dns::Message::read(message) {
            Some(message) if context.quoted => self.dns.refused(&message, at),
            Some(message) => self.dns.take(&message, at),
            None => {}
        }
    }

    fn icmp(&mut self, six: bool, view: View<'_>, context: &HeaderContext) {
        self.icmp.take(six, view, context, (self.number, self.time));
        // Neighbors never pass a router on: what has fewer hops comes from elsewhere.
        if six
            && !context.quoted
            && context.hops == 255
            && let Some(message) = arp::NeighborMessage::neighbor(view, context.net.source())
        {
            self.ndp.add_message(
                &message,
                arp::FrameContext { lan: context.lan, frame: self.number, time: self.time },
            );
        }
    }

    fn about(&mut self, quote: &Quote, net: IpPair, ports: Option<(u16, u16)>) {
        self.quote = Some((self.number, *quote));
        self.icmp.about(quote, net, ports, (self.number, self.time));
    }

    fn arp(&mut self, arp: &Arp) {
        self.arp.take(arp, arp::FrameContext { lan: arp.lan, frame: self.number, time: self.time });
    }

    fn packet(&mut self, packet: View<'_>, context: &HeaderContext) {
        if !context.quoted {
            self.routing_loops.take(packet, context, self.number);
            self.icmp.packet(packet, context, self.time);
        }
        if !packet.whole() && !context.quoted {
            let header = match context.net {
                IpPair::Four(..) => packet.u8(0).map_or(0, |first| usize::from(first & 15) * 4),
                IpPair::Six(..) => 40,
            };
            self.shortest = self.shortest.min(packet.data.len().saturating_sub(header));
        }
    }

    fn unknown_link(&mut self, link: u16) {
        self.counts.unknown_link(link);
    }
}
