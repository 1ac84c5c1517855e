//! The pass itself: frames go in, an account of them comes out.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::arp;
use super::circle::Circles;
use super::compare::Services;
use super::count::Counts;
use super::dns;
use super::findings::{self, Finding};
use super::flow::{Overview, state};
use super::focus::Focus;
use super::icmp;
use super::label::{Label, Labels};
use super::layers::{Arp, Net, Pair, Place, Quote, Sink, View, Walker};
use super::read::{Ending, Frame};
use super::series::{Series, measured};
use super::storm::Storms;
use super::summary::{self, Summary};
use super::talk;
use super::tcp::{Barred, Copies, Ends, FIN, Flow, RST, SYN, Segment, Table};

/// How many copies are kept as evidence.
const COPIES: usize = 5;

/// How many frames of a label are listed unless everything is asked for.
const MOST_LISTED: usize = 1_000_000;

/// How much is told, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Everything that is known rather than the most important.
    pub full: bool,
    /// The frames of this label are listed.
    pub frames: Option<Label>,
    /// Lists are about this address, or this port of it, alone.
    pub focus: Option<Focus>,
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
            flows: Overview::new(scope.full, scope.focus),
            talk: talk::Tally::new(scope.full, scope.focus),
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
    pub fn finish(self, ending: &Ending) -> Summary {
        self.finish_with_services(ending).0
    }

    /// Ends the pass, and returns how each service fared.
    pub(super) fn finish_with_services(mut self, ending: &Ending) -> (Summary, Services) {
        let mut pass = self.pass;
        let evicted = pass.settle(self.walker.finish(pass.counts.last));
        let services = pass.services.take().unwrap_or_default();
        (summary::write(pass, ending, evicted, self.walker.fragments_given_up()), services)
    }
}

/// Takes frames from wherever they come.
///
/// ```
/// use ghost_pcap::{Analyzer, Ending, Format, Frame, Scope};
///
/// let ring = [[0_u8; 60], [1; 60]];
/// let mut analyzer = Analyzer::new(Scope::default());
/// analyzer.extend((1..).zip(&ring).map(|(number, data)| {
///     Frame { number, time: number * 1000, interface: 0, link: 1, wire: data.len(), data }
/// }));
/// assert_eq!(analyzer.finish(&Ending::new(Format::Pcap)).file.packets, 2);
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
    pub(super) flows: Overview,
    pub(super) dns: dns::Tally,
    pub(super) icmp: icmp::Tally,
    pub(super) arp: arp::Tally,
    pub(super) ndp: arp::Tally,
    pub(super) circles: Circles,
    pub(super) pairs: BTreeMap<(IpAddr, IpAddr), Pair>,
    pub(super) storms: Storms,
    pub(super) talk: talk::Tally,
    pub(super) listed: Vec<u64>,
    /// Frames that are not in that list for want of room.
    pub(super) unlisted: u64,
    /// What pictures are drawn from, where they are wanted.
    pub(super) series: Option<Box<Series>>,
    services: Option<Services>,
    /// Of packets that were captured in part, how much at least was captured behind the IP header.
    shortest: usize,
    table: Table,
    copies: Copies,
    /// The ICMP error that was told of last, and its frame.
    quote: Option<(u64, Quote)>,
    number: u64,
    time: u64,
    labels: Labels,
}

impl Pass {
    /// Takes every connection for over, and what came of fragments; returns how many connections had to be over before.
    fn settle(&mut self, pairs: BTreeMap<(IpAddr, IpAddr), Pair>) -> u64 {
        self.pairs = pairs;
        let table = std::mem::take(&mut self.table);
        let evicted = table.evicted();
        let flows = table.into_flows();
        self.flows.end(self.counts.last, flows.iter());
        let last = self.counts.last;
        for mut flow in flows {
            self.talk.over(&mut flow, last);
            self.icmp.quoted.over(flow.ends.sockets(), || state(&flow));
            self.flows.take(&flow);
            self.services.iter_mut().for_each(|services| services.take(&flow));
        }
        self.talk.finish(last);
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
            if self.scope.full || self.listed.len() < MOST_LISTED {
                self.listed.push(number);
            } else {
                self.unlisted += 1;
            }
        }
        self.labels
    }

    /// Tells a connection that an ICMP error quotes its SYN; eight bytes of it are enough.
    fn barred(&mut self, view: View<'_>, place: &Place) {
        let Some((_, quote)) = self.quote.filter(|(frame, _)| *frame == self.number) else {
            return;
        };
        if let (Some(source), Some(destination), Some(seq)) = (view.u16(0), view.u16(2), view.u32(4)) {
            let (ends, flipped) = Ends::new(place.net, (source, destination));
            if let Some(flow) = self.table.known(ends)
                && let Some(barred) = Barred::by(&quote, self.number)
            {
                flow.bar(barred, seq, flipped);
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
    (ends, flipped): (Ends, bool),
    labels: &mut Labels,
) -> Option<&'a mut Flow> {
    let place = table.place(ends, flipped);
    if segment.any(SYN) {
        let own = table.at(place)?.pair(flipped).0;
        let other = own.isn.is_some_and(|isn| isn != segment.seq);
        if other {
            labels.set(Label::ReusedPorts);
        }
        if segment.accepts() && other {
            own.isn = Some(segment.seq);
        } else if segment.opens() && other {
            table.anew(place);
        } else if segment.opens() && own.isn.is_some() {
            own.next = own.contig;
        }
    }
    table.at(place)
}

/// Says whether a segment can hold messages that were not there before.
fn news(labels: Labels) -> bool {
    let again = labels.has(Label::Retransmission) && !labels.has(Label::FastRetransmission);
    !again && !labels.has(Label::KeepAlive) && !labels.has(Label::OutOfOrder)
}

impl Sink for Pass {
    fn mark(&mut self, label: Label) {
        self.labels.set(label);
    }

    fn tcp(&mut self, view: View<'_>, place: &Place) {
        if place.quoted {
            self.barred(view, place);
        }
        let Some(mut segment) = Segment::read(view, !place.quoted && !place.fragment) else {
            return;
        };
        (segment.hops, segment.id, segment.vlan) = (place.hops, place.id, place.vlan);
        self.flagged(&segment);
        let (ends, flipped) = Ends::new(place.net, segment.ports);
        let Self { table, flows, dns, labels, series, copies, icmp, services, talk, .. } = self;
        segment.crowded = table.crowded();
        let mut found = Labels::default();
        let Some(flow) = connection(table, &segment, (ends, flipped), &mut found) else {
            return;
        };
        let resolver = matches!(segment.ports, (53 | 5353, _) | (_, 53 | 5353));
        if place.quoted {
            icmp.about_flow(place.net, segment.ports, self.number);
            if resolver && segment.payload().holds(6) {
                labels.set(Label::Dns);
            }
        } else {
            let known = measured(flow);
            let ago = copies.ago(place.net, &segment, self.time);
            let taken = flow.take(&segment, flipped, (self.number, self.time), ago);
            if flow.copied && flows.copied.len() < COPIES {
                flows.copied.push(self.number);
            }
            if flow.took > 0 {
                flows.acks.add(flow.took);
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
            if flow.ear.listens() && (segment.payload().wire > 0 || segment.any(FIN | RST)) {
                let at = talk::At { ends, flipped, frame: self.number, time: self.time };
                talk.segment(flow, &segment, at);
            }
            if resolver && news(found) && segment.payload().wire > 0 {
                let streams = flow.dns.get_or_insert_default();
                let at = dns::At { ends, flipped, frame: self.number, time: self.time, stream: true };
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
            talk.over(&mut flow, self.time);
            icmp.quoted.over(flow.ends.sockets(), || state(&flow));
            flows.take(&flow);
            services.iter_mut().for_each(|services| services.take(&flow));
        }
    }

    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, place: &Place) {
        if !place.quoted {
            self.talk.datagram(place.net, ports, payload, (self.number, self.time));
        }
    }

    fn dns(&mut self, ports: (u16, u16), message: View<'_>, place: &Place) {
        let (ends, flipped) = Ends::new(place.net, ports);
        let at = dns::At { ends, flipped, frame: self.number, time: self.time, stream: false };
        match dns::Message::read(message) {
            Some(message) if place.quoted => self.dns.refused(&message, at),
            Some(message) => self.dns.take(&message, at),
            None => {}
        }
    }

    fn icmp(&mut self, six: bool, view: View<'_>, place: &Place) {
        self.icmp.take(six, view, place, (self.number, self.time));
        // Neighbors never pass a router on: what has fewer hops comes from elsewhere.
        if six
            && !place.quoted
            && place.hops == 255
            && let Some(said) = arp::Said::neighbor(view, place.net.source())
        {
            self.ndp.say(&said, arp::At { lan: place.lan, frame: self.number, time: self.time });
        }
    }

    fn about(&mut self, quote: &Quote, net: Net, ports: Option<(u16, u16)>) {
        self.quote = Some((self.number, *quote));
        self.icmp.about(quote, net, ports, (self.number, self.time));
    }

    fn arp(&mut self, arp: &Arp) {
        self.arp.take(arp, arp::At { lan: arp.lan, frame: self.number, time: self.time });
    }

    fn packet(&mut self, packet: View<'_>, place: &Place) {
        if !place.quoted {
            self.circles.take(packet, place, self.number);
            self.icmp.packet(packet, place, self.time);
        }
        if !packet.whole() && !place.quoted {
            let header = match place.net {
                Net::Four(..) => packet.u8(0).map_or(0, |first| usize::from(first & 15) * 4),
                Net::Six(..) => 40,
            };
            self.shortest = self.shortest.min(packet.data.len().saturating_sub(header));
        }
    }

    fn unknown_link(&mut self, link: u16) {
        self.counts.unknown_link(link);
    }
}
