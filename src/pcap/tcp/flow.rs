//! One connection: both directions, and what is told of it.

use super::ends::Ends;
use super::segment::{ACK, Options, RST, SYN, Segment};
use super::side::{Scale, Side};
use crate::pcap::dns::Stream;
use crate::pcap::figure::Spread;
use crate::pcap::label::{Label, Labels};
use crate::pcap::talk::Ear;

/// By how many hops the way of a sender's packets does not change from one to the next.
const FOREIGN: u8 = 3;
/// How many different round trips a flow tells apart: there are many flows.
const TRIPS: usize = 48;
/// How many frames in trouble a flow remembers.
const EVIDENCE: usize = 4;

/// A connection, or what looks like one.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Its number, in order of first packets.
    pub(crate) stream: u64,
    /// Who talks with whom.
    pub(crate) ends: Ends,
    /// The first packet came from the second end.
    pub(crate) flipped: bool,
    /// The frame of its first packet, quoted ones left out.
    pub(crate) first_frame: u64,
    /// When it began.
    pub(crate) first_time: u64,
    /// When it was last heard of.
    pub(crate) last_time: u64,
    /// When the latest SYN was sent; 0 for never.
    syn_time: u64,
    /// The initial round trip; 0 for not known.
    pub(crate) trip: u64,
    /// Both directions, in the order of the ends.
    pub(crate) sides: [Side; 2],
    /// How often each kind of trouble occurred, in the order of the labels from `Retransmission` to `ReusedPorts`.
    pub(crate) trouble: [u32; 15],
    /// The first frames in trouble.
    pub(crate) evidence: [u64; EVIDENCE],
    /// Round trips of segments that were sent once.
    pub(crate) trips: Option<Box<Spread>>,
    /// DNS messages on their way, one direction each.
    pub(crate) dns: Option<Box<[Stream; 2]>>,
    /// What is listened for in what both say.
    pub(crate) ear: Ear,
    /// How the connection opened and ended.
    pub(crate) turns: Turns,
    /// It was used since the last look for one that can go.
    pub(crate) touched: bool,
}

/// What happened between the ends, as far as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Turns {
    /// A SYN was seen.
    pub(crate) asked: bool,
    /// A SYN with ACK was seen.
    pub(crate) accepted: bool,
    /// An acknowledgment after that.
    pub(crate) opened: bool,
    /// The first RST came while nothing was opened.
    pub(crate) refused: bool,
    /// The frame of the first RST; 0 for none.
    pub(crate) reset_frame: u64,
    /// A reset came with another time to live than its sender's packets: theirs, and its own.
    pub(crate) foreign: Option<(u8, u8)>,
    /// SYNs that were sent.
    pub(crate) syns: u32,
}

impl Flow {
    /// Begins a connection.
    pub(crate) fn new(stream: u64, ends: Ends, flipped: bool) -> Self {
        Self {
            stream,
            ends,
            flipped,
            first_frame: 0,
            first_time: 0,
            last_time: 0,
            syn_time: 0,
            trip: 0,
            sides: [Side::default(); 2],
            trouble: [0; 15],
            evidence: [0; EVIDENCE],
            trips: None,
            dns: None,
            ear: Ear::default(),
            turns: Turns::default(),
            touched: false,
        }
    }

    /// Returns the sender's side and the other one.
    pub(crate) fn pair(&mut self, flipped: bool) -> (&mut Side, &mut Side) {
        let [first, second] = &mut self.sides;
        if flipped { (second, first) } else { (first, second) }
    }

    /// Takes a segment that is real, and returns its labels.
    pub(crate) fn take(&mut self, segment: &Segment<'_>, flipped: bool, frame: u64, now: u64) -> Labels {
        if self.first_frame == 0 {
            self.first_frame = frame;
            self.first_time = now;
            self.flipped = flipped;
        }
        self.last_time = now;
        let trip = self.trip;
        let (own, peer) = self.pair(flipped);
        own.packets += 1;
        own.flags |= segment.flags;
        let mut labels = Labels::default();
        let mut measured = None;
        if let Some(len) = segment.len {
            own.bytes += u64::from(len);
            let high = own.next;
            labels = super::judge::judge(own, peer, segment, len, now, trip);
            measured = time(own, peer, segment, labels, high, now);
        }
        self.turn(segment, flipped, frame);
        if segment.sound {
            self.scale(segment, flipped);
            self.initial(segment, now);
        }
        if let Some(trip) = measured {
            self.trips.get_or_insert_default().add_within(trip, TRIPS);
        }
        if !segment.complete {
            return Labels::default();
        }
        labels
    }

    /// Counts what went wrong in a frame.
    pub(crate) fn note(&mut self, labels: Labels, flipped: bool, frame: u64) {
        labels.each(|place| {
            if let Some(count) = place.checked_sub(FIRST_TROUBLE).and_then(|at| self.trouble.get_mut(at)) {
                *count += 1;
            }
        });
        let serious = SERIOUS.iter().any(|label| labels.has(*label));
        if labels.has(Label::Retransmission) {
            self.pair(flipped).0.again += 1;
        }
        if serious && let Some(free) = self.evidence.iter_mut().find(|frame| **frame == 0) {
            *free = frame;
        }
    }

    /// Returns how often a kind of trouble occurred.
    pub(crate) fn troubles(&self, label: Label) -> u32 {
        (label as usize).checked_sub(FIRST_TROUBLE).and_then(|at| self.trouble.get(at)).copied().unwrap_or(0)
    }

    fn turn(&mut self, segment: &Segment<'_>, flipped: bool, frame: u64) {
        let own = self.pair(flipped).0;
        let usual = own.hops;
        if !segment.any(RST) {
            own.hops = segment.hops;
        }
        let turns = &mut self.turns;
        if segment.opens() {
            turns.asked = true;
            turns.syns = turns.syns.saturating_add(1);
        } else if segment.accepts() {
            turns.accepted = true;
        } else if segment.any(RST) {
            if turns.reset_frame == 0 {
                turns.reset_frame = frame;
                let apart = usual > 0 && segment.hops > 0 && usual.abs_diff(segment.hops) >= FOREIGN;
                turns.foreign = apart.then_some((usual, segment.hops));
                // A refusal comes from the end that did not ask.
                turns.refused = turns.asked && !turns.accepted && !turns.opened && flipped != self.flipped;
            }
        } else if segment.any(ACK) && turns.asked && turns.accepted {
            turns.opened = true;
        }
    }

    fn scale(&mut self, segment: &Segment<'_>, flipped: bool) {
        let Options { shift, mss } = segment.options();
        let (own, peer) = self.pair(flipped);
        if let Some(shift) = shift {
            own.scale = Scale::By(shift);
        }
        if mss > 0 {
            own.mss = mss;
        }
        if segment.any(SYN) && segment.complete {
            if own.scale == Scale::Unknown {
                own.scale = Scale::Unused;
                peer.scale = Scale::Unused;
            }
            if segment.accepts() && peer.scale == Scale::Unused {
                own.scale = Scale::Unused;
            }
        }
    }

    fn initial(&mut self, segment: &Segment<'_>, now: u64) {
        if segment.opens() {
            self.syn_time = now;
        } else if self.trip == 0 && self.syn_time != 0 && segment.any(ACK) && !segment.any(SYN) {
            self.trip = now.wrapping_sub(self.syn_time);
        }
    }
}

/// What a flow's evidence is: the rest happens in healthy connections, too.
const SERIOUS: [Label; 6] = [
    Label::Retransmission,
    Label::OutOfOrder,
    Label::DuplicateAck,
    Label::LostSegment,
    Label::AckLostSegment,
    Label::ZeroWindow,
];

/// Where trouble begins among the labels.
const FIRST_TROUBLE: usize = Label::Retransmission as usize;

/// Times one segment at a time, and only such as were sent once (Karn); returns a round trip that ended here.
fn time(
    own: &mut Side,
    peer: &mut Side,
    segment: &Segment<'_>,
    labels: Labels,
    high: u32,
    now: u64,
) -> Option<u64> {
    let carries = segment.len.is_some_and(|len| len > 0) || segment.any(SYN);
    own.carrying += u32::from(carries);
    if labels.has(Label::Retransmission) || labels.has(Label::OutOfOrder) || labels.has(Label::LostSegment) {
        own.timed = None;
    } else if carries && own.timed.is_none() && own.next != high {
        own.timed = Some((own.next, now));
    }
    let (end, sent) = peer.timed?;
    if !segment.any(ACK) || super::side::before(segment.ack, end) {
        return None;
    }
    peer.timed = None;
    // Clocks that go back measure nothing.
    now.checked_sub(sent)
}
