//! One TCP stream: both directions and their state.

use super::direction::{DirectionState, DirectionStates, SegmentContext, pair};
use super::endpoints::EndpointPair;
use super::repetition::{RetransmissionRun, RetransmissionRuns};
use super::reset::SynRejection;
use super::reset::{Reset, advanced};
use super::segment::{ACK, FIN, Options, RST, SYN, Segment};
use super::sender::{Scale, SenderState};
use crate::dns::Stream;
use crate::histogram::Histogram;
use crate::label::{Label, Labels};
use crate::protocol::Dissector;

/// How many different round trips a flow tells apart: there are many flows.
const MAX_RTT_BUCKETS: usize = 48;
/// How many frames in trouble a flow remembers.
const MAX_EVIDENCE_FRAMES: usize = 4;

/// A connection, or what resembles one.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// Its number, in order of first packets.
    pub(crate) stream: u64,
    /// Who talks with whom.
    pub(crate) ends: EndpointPair,
    /// The first packet came from the second end.
    pub(crate) flipped: bool,
    /// The frame of its first packet, quoted ones left out.
    pub(crate) first_frame: u64,
    /// When it began.
    pub(crate) first_time: u64,
    /// When its last packet was seen.
    pub(crate) last_time: u64,
    /// When the latest SYN was sent; 0 for never.
    syn_time: u64,
    /// The initial round trip; 0 for not known.
    pub(crate) rtt: u64,
    /// Both directions, in the order of the ends.
    pub(crate) sides: [SenderState; 2],
    /// How often each kind of trouble occurred, in the order of the labels from `Retransmission` to `ReusedPorts`.
    pub(crate) trouble: [u32; 15],
    /// The first frames in trouble.
    pub(crate) evidence: [u64; MAX_EVIDENCE_FRAMES],
    /// Round trips of segments that were sent once, by their sender.
    pub(crate) rtts: Option<Box<[Histogram; 2]>>,
    /// DNS messages in transit, one direction each.
    pub(crate) dns: Option<Box<[Stream; 2]>>,
    /// What is listened for in what both say.
    pub(crate) dissector: Dissector,
    /// How the connection opened and ended.
    pub(crate) turns: Lifecycle,
    /// The facts beyond labels, where something was carried.
    pub(crate) directions: Option<Box<DirectionStates>>,
    /// Segments that were sent again and again, in the order of the ends.
    pub(crate) repeats: Option<Box<[RetransmissionRuns; 2]>>,
    /// The first reset.
    pub(crate) reset: Option<Box<Reset>>,
    /// Two VLANs in which one direction was seen.
    pub(crate) vlans: Option<(u16, u16)>,
    /// How long the acknowledgment took that the last segment brought, as the reference says; 0 for none.
    pub(crate) ack_time: u64,
    /// The last segment was there before, byte for byte, or is in another VLAN: only its labels count.
    pub(crate) copied: bool,
    /// It was used since the last look for one that can go.
    pub(crate) touched: bool,
}

/// What happened between the ends, as far as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lifecycle {
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
    /// SYNs that were sent.
    pub(crate) syns: u32,
    /// Answers to that.
    pub(crate) accepts: u32,
    /// The side whose FIN or RST came first.
    pub(crate) ended_by: Option<bool>,
    /// An ICMP error that quotes the SYN says so.
    pub(crate) rejection: Option<SynRejection>,
}

impl Flow {
    /// Begins a connection.
    pub(crate) fn new(stream: u64, ends: EndpointPair, flipped: bool) -> Self {
        Self {
            stream,
            ends,
            flipped,
            first_frame: 0,
            first_time: 0,
            last_time: 0,
            syn_time: 0,
            rtt: 0,
            sides: [SenderState::default(); 2],
            trouble: [0; 15],
            evidence: [0; MAX_EVIDENCE_FRAMES],
            rtts: None,
            dns: None,
            dissector: Dissector::default(),
            turns: Lifecycle::default(),
            directions: None,
            repeats: None,
            reset: None,
            vlans: None,
            ack_time: 0,
            copied: false,
            touched: false,
        }
    }

    /// Returns the sender's side and the other one.
    pub(crate) fn pair(&mut self, flipped: bool) -> (&mut SenderState, &mut SenderState) {
        let [first, second] = &mut self.sides;
        if flipped { (second, first) } else { (first, second) }
    }

    /// Takes a segment that is real, and returns its labels. `ago` says how long ago the same bytes were there.
    pub(crate) fn take(
        &mut self,
        segment: &Segment<'_>,
        flipped: bool,
        (frame, now): (u64, u64),
        ago: Option<u64>,
    ) -> Labels {
        if self.first_frame == 0 {
            self.first_frame = frame;
            self.first_time = now;
            self.flipped = flipped;
        }
        self.last_time = now;
        self.ack_time = 0;
        let rtt = self.rtt;
        let other_vlan = self.pair(flipped).0.count_packet(segment);
        self.vlans = self.vlans.or(other_vlan);
        let (own, peer) = self.pair(flipped);
        let twice = ago.is_some_and(|ago| own.copied(segment, ago));
        own.copies += u32::from(twice);
        // In another VLAN it is the same packet elsewhere, or another conversation: neither says anything of this one.
        let copied = twice || other_vlan.is_some();
        let late = own.was_overtaken(segment);
        let (high, high_time) = (own.next, own.next_time);
        let mut labels = Labels::default();
        let mut measured = None;
        if let Some(len) = segment.len {
            own.bytes += u64::from(len);
            labels = super::sequence::analyze_sequence(own, peer, segment, len, now, rtt);
            if !copied {
                measured = super::sequence::sample_rtt(own, peer, segment, labels, high, now);
            }
        }
        self.copied = copied;
        let sack = if segment.sound { self.scale(segment, flipped) } else { &[] };
        if !copied {
            self.turn(segment, flipped, high, (frame, now));
            if let Some(len) = segment.len {
                let context = SegmentContext { segment, len, labels, high, late, sack, now, frame };
                self.update_directions(&context, flipped, high_time);
            }
            if let Some(id) = segment.id {
                self.pair(flipped).0.track_id(id);
            }
        }
        if segment.sound {
            self.initial(segment, now);
        }
        if let Some(rtt) = measured {
            let [first, second] = &mut **self.rtts.get_or_insert_default();
            // What is acknowledged here was the other end's.
            let of = if flipped { first } else { second };
            of.add_within(rtt, MAX_RTT_BUCKETS);
        }
        if !segment.complete {
            self.ack_time = 0;
            return Labels::default();
        }
        labels
    }

    /// Follows what labels do not tell.
    fn update_directions(&mut self, context: &SegmentContext<'_>, flipped: bool, high_time: u64) {
        let again = context.labels.has(Label::Retransmission);
        self.ack_time = self.pair(flipped).1.syn_acknowledged(context.segment.ack, context.now).unwrap_or(0);
        let own = self.pair(flipped).0;
        if context.segment.any(SYN) && own.syn_sent_at == 0 && !again {
            own.syn_sent_at = context.now;
        }
        let known = context.span().1 == own.next && high_time > 0;
        let mut first = known.then_some(high_time);
        if self.directions.is_none() && (context.len > 0 || context.segment.any(FIN)) {
            self.directions = Some(DirectionStates::new(context.now));
        }
        if let Some(directions) = &mut self.directions {
            let timing = directions.take(&self.sides, flipped, context);
            first = timing.first.or(first);
            if self.ack_time == 0 {
                self.ack_time = timing.ack_time.unwrap_or(0);
            }
        }
        if again {
            let repeats = self.repeats.get_or_insert_default();
            let [one, other] = &mut **repeats;
            let mine = if flipped { other } else { one };
            mine.take(context.segment.seq, first, context.now, context.frame);
        }
        if let Some(reset) = &mut self.reset
            && reset.frame != context.frame
        {
            let advanced = advanced(pair(&self.sides, flipped).0, context.high);
            reset.later(context.segment, flipped, advanced, (context.frame, context.now));
        }
    }

    /// Takes an ICMP error that quotes a segment of this connection: it matters while a SYN has no answer.
    pub(crate) fn reject_syn(&mut self, rejection: SynRejection, seq: u32, flipped: bool) {
        let asks = flipped == self.flipped && self.pair(flipped).0.isn == Some(seq);
        let turns = &mut self.turns;
        if asks && turns.asked && !turns.accepted && !turns.opened {
            turns.rejection = turns.rejection.or(Some(rejection));
        }
    }

    /// Counts what went wrong in a frame.
    pub(crate) fn note(&mut self, labels: Labels, flipped: bool, frame: u64) {
        if self.copied {
            return;
        }
        labels.each(|place| {
            if let Some(count) =
                place.checked_sub(FIRST_ANALYSIS_LABEL).and_then(|at| self.trouble.get_mut(at))
            {
                *count += 1;
            }
        });
        let serious = EVIDENCE_LABELS.iter().any(|label| labels.has(*label));
        if labels.has(Label::Retransmission) {
            self.pair(flipped).0.again += 1;
        }
        if serious && let Some(free) = self.evidence.iter_mut().find(|frame| **frame == 0) {
            *free = frame;
        }
    }

    /// Returns the time from the SYN to the first acknowledgment; clocks that go back measure nothing.
    pub(crate) fn handshake(&self) -> Option<u64> {
        (self.rtt as i64 > 0).then_some(self.rtt)
    }

    /// Returns the facts of the direction of an end, where it carried something.
    pub(crate) fn direction(&self, flipped: bool) -> Option<&DirectionState> {
        self.directions.as_deref().map(|directions| pair(&directions.by_sender, flipped).0)
    }

    /// Returns the segment that an end sent most often.
    pub(crate) fn retransmissions(&self, flipped: bool) -> RetransmissionRun {
        self.repeats
            .as_deref()
            .map_or_else(RetransmissionRun::default, |repeats| pair(repeats, flipped).0.longest())
    }

    /// Returns how often a kind of trouble occurred.
    pub(crate) fn label_count(&self, label: Label) -> u32 {
        (label as usize)
            .checked_sub(FIRST_ANALYSIS_LABEL)
            .and_then(|at| self.trouble.get(at))
            .copied()
            .unwrap_or(0)
    }

    fn turn(&mut self, segment: &Segment<'_>, flipped: bool, high: u32, at: (u64, u64)) {
        if segment.any(RST) {
            if self.turns.reset_frame == 0 {
                self.turns.reset_frame = at.0;
                let sides = pair(&self.sides, flipped);
                self.reset = Some(Box::new(Reset::new(segment, sides, high, flipped, at)));
                let turns = &mut self.turns;
                // A refusal comes from the end that did not ask.
                turns.refused = turns.asked && !turns.accepted && !turns.opened && flipped != self.flipped;
                turns.ended_by = turns.ended_by.or(Some(flipped));
            }
            return;
        }
        self.pair(flipped).0.hops = segment.hops;
        let turns = &mut self.turns;
        if segment.any(FIN) {
            turns.ended_by = turns.ended_by.or(Some(flipped));
        }
        if segment.opens() {
            turns.asked = true;
            turns.syns = turns.syns.saturating_add(1);
        } else if segment.accepts() {
            turns.accepted = true;
            turns.accepts = turns.accepts.saturating_add(1);
        } else if segment.any(ACK) && turns.asked && turns.accepted {
            turns.opened = true;
        }
    }

    /// Follows options; returns the blocks of a selective acknowledgment.
    fn scale<'a>(&mut self, segment: &Segment<'a>, flipped: bool) -> &'a [u8] {
        let Options { shift, mss, sack } = segment.options();
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
        sack
    }

    fn initial(&mut self, segment: &Segment<'_>, now: u64) {
        if segment.opens() {
            self.syn_time = now;
        } else if self.rtt == 0 && self.syn_time != 0 && segment.any(ACK) && !segment.any(SYN) {
            self.rtt = now.wrapping_sub(self.syn_time);
        }
    }
}

/// What a flow's evidence is: the rest happens in healthy connections, too.
const EVIDENCE_LABELS: [Label; 6] = [
    Label::Retransmission,
    Label::OutOfOrder,
    Label::DuplicateAck,
    Label::LostSegment,
    Label::AckLostSegment,
    Label::ZeroWindow,
];

/// Where trouble begins among the labels.
const FIRST_ANALYSIS_LABEL: usize = Label::Retransmission as usize;
