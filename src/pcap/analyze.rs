//! The pass itself: frames go in, an account of them comes out.

use super::arp;
use super::count::Counts;
use super::dns;
use super::flow::Overview;
use super::focus::Focus;
use super::icmp;
use super::label::{Label, Labels};
use super::layers::{Arp, Net, Place, Quote, Sink, View, Walker};
use super::read::{Ending, Frame};
use super::summary::{self, Summary};
use super::talk;
use super::tcp::{Ends, FIN, Flow, RST, SYN, Segment, Table};

/// How much is told, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Everything that is known rather than the most important.
    pub full: bool,
    /// The frames of this label are listed.
    pub frames: Option<Label>,
    /// Lists are about this address, or this port of it, alone.
    pub focus: Option<Focus>,
}

/// Takes frames one after another and gives an account of them at the end.
#[derive(Debug, Default)]
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

    /// Ends the pass.
    #[must_use]
    pub fn finish(self, ending: &Ending) -> Summary {
        let mut pass = self.pass;
        let table = std::mem::take(&mut pass.table);
        let evicted = table.evicted();
        let last = pass.counts.last;
        for mut flow in table.into_flows() {
            pass.talk.over(&mut flow, last);
            pass.flows.take(&flow);
        }
        pass.talk.finish(last);
        summary::write(pass, ending, evicted, self.walker.fragments_given_up())
    }
}

/// Everything that is remembered of the frames so far.
#[derive(Debug, Default)]
pub(super) struct Pass {
    pub(super) scope: Scope,
    pub(super) counts: Counts,
    pub(super) flows: Overview,
    pub(super) dns: dns::Tally,
    pub(super) icmp: icmp::Tally,
    pub(super) arp: arp::Tally,
    pub(super) talk: talk::Tally,
    pub(super) listed: Vec<u64>,
    /// Of packets that were captured in part, how much at least was captured behind the IP header.
    shortest: usize,
    table: Table,
    number: u64,
    time: u64,
    labels: Labels,
}

impl Pass {
    fn begin(&mut self, frame: &Frame<'_>) {
        self.number = frame.number;
        self.time = frame.time;
        self.labels = Labels::default();
        self.counts.frame(frame);
    }

    fn end(&mut self, number: u64) -> Labels {
        self.counts.labels(self.labels, number);
        if self.scope.frames.is_some_and(|label| self.labels.has(label)) {
            self.listed.push(number);
        }
        self.labels
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
        let Some(mut segment) = Segment::read(view, !place.quoted && !place.fragment) else {
            return;
        };
        segment.hops = place.hops;
        self.flagged(&segment);
        let (ends, flipped) = Ends::new(place.net, segment.ports);
        let Self { table, flows, dns, talk, labels, .. } = self;
        let mut found = Labels::default();
        let Some(flow) = connection(table, &segment, (ends, flipped), &mut found) else {
            return;
        };
        let resolver = matches!(segment.ports, (53 | 5353, _) | (_, 53 | 5353));
        if place.quoted {
            if resolver && segment.payload().holds(6) {
                labels.set(Label::Dns);
            }
        } else {
            let taken = flow.take(&segment, flipped, self.number, self.time);
            found.join(taken);
            if !segment.complete {
                found = Labels::default();
            }
            flow.note(found, flipped, self.number);
            labels.join(found);
            if flow.ear.listens() && (segment.payload().wire > 0 || segment.any(FIN | RST)) {
                let at = talk::At { ends, flipped, frame: self.number, time: self.time };
                talk.segment(flow, &segment, at);
            }
            if resolver && news(found) && segment.payload().wire > 0 {
                let streams = flow.dns.get_or_insert_default();
                let at = dns::At { ends, flipped, frame: self.number, time: self.time };
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
            flows.take(&flow);
        }
    }

    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, place: &Place) {
        if !place.quoted {
            self.talk.datagram(place.net, ports, payload, (self.number, self.time));
        }
    }

    fn dns(&mut self, ports: (u16, u16), message: View<'_>, place: &Place) {
        if place.quoted {
            return;
        }
        let (ends, flipped) = Ends::new(place.net, ports);
        if let Some(message) = dns::Message::read(message) {
            self.dns.take(&message, dns::At { ends, flipped, frame: self.number, time: self.time });
        }
    }

    fn icmp(&mut self, six: bool, view: View<'_>, place: &Place) {
        if !place.quoted
            && let (Some(kind), Some(code)) = (view.u8(0), view.u8(1))
        {
            self.icmp.take(six, kind, code, self.number);
        }
    }

    fn about(&mut self, quote: &Quote, net: Net, ports: Option<(u16, u16)>) {
        self.icmp.about(quote, net, ports, self.number);
    }

    fn arp(&mut self, arp: &Arp) {
        self.arp.take(arp, self.number);
    }

    fn packet(&mut self, packet: View<'_>, place: &Place) {
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
