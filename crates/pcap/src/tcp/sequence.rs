//! The sequence analysis: whether a segment is a retransmission, a duplicate acknowledgment or out of order, equal to tshark frame for
//! frame; and round-trip times by Karn's rule.

use super::segment::{ACK, FIN, RST, SYN, Segment};
use super::sender::{Scale, SenderState, after, at_most, before};
use crate::label::{Label, Labels};

/// An acknowledgment is repeated at most so long before a fast retransmission.
const MAX_FAST_RETRANSMISSION_DELAY: u64 = 20_000_000;
/// What counts as a round trip where none was measured.
const DEFAULT_RTT: u64 = 3_000_000;

/// Judges a segment whose length is known, and moves both directions on.
///
/// `rtt` is the initial round trip in nanoseconds, 0 where it is not known.
pub(super) fn analyze_sequence(
    own: &mut SenderState,
    peer: &mut SenderState,
    segment: &Segment<'_>,
    len: u32,
    now: u64,
    rtt: u64,
) -> Labels {
    if own.isn.is_none() {
        own.isn = Some(if segment.any(SYN) { segment.seq } else { segment.seq.wrapping_sub(1) });
    }
    if peer.isn.is_none() && segment.any(ACK) {
        peer.isn = Some(segment.ack.wrapping_sub(1));
    }
    let mut labels = Labels::default();
    if len == 1 && segment.seq == own.next && peer.win == 0 {
        labels.set(Label::ZeroWindowProbe);
    } else {
        compare(own, peer, segment, len, &mut labels);
    }
    if segment.ack != own.last_ack {
        own.dups = 0;
    }
    acknowledgment(peer, segment, &mut labels);
    let carries = len > 0 || segment.any(SYN | FIN);
    if carries && !labels.has(Label::KeepAlive) {
        again(own, peer, segment, len, (now, rtt), &mut labels);
    }
    advance(own, segment, len, now, labels);
    peer.acknowledged(segment.ack);
    labels
}

/// What can be said from the sequence number, the acknowledgment and the window.
fn compare(own: &mut SenderState, peer: &SenderState, segment: &Segment<'_>, len: u32, labels: &mut Labels) {
    let plain = !segment.any(SYN | FIN | RST);
    let (seq, win) = (segment.seq, segment.win);
    if win == 0 && plain {
        labels.set(Label::ZeroWindow);
    }
    if own.next != 0 && after(seq, own.next) && !segment.any(RST) {
        labels.set(Label::LostSegment);
    }
    if !plain {
        return;
    }
    if len <= 1 && seq == own.next.wrapping_sub(1) {
        labels.set(Label::KeepAlive);
    }
    if len > 0 {
        if fills(peer, seq.wrapping_add(len)) {
            labels.set(Label::WindowFull);
        }
        return;
    }
    if seq != own.next || segment.ack != own.last_ack {
        return;
    }
    match (win, win == own.win) {
        (0, true) if peer.last.has(Label::ZeroWindowProbe) => labels.set(Label::ZeroWindowProbeAck),
        (0, _) => {}
        (_, false) => labels.set(Label::WindowUpdate),
        (_, true) if peer.last.has(Label::KeepAlive) => labels.set(Label::KeepAliveAck),
        (_, true) => {
            labels.set(Label::DuplicateAck);
            // The largest number stands for a suppressed repetition and wraps to 0 first.
            own.dups = own.dups.wrapping_add(1).max(1);
        }
    }
}

/// Tells whether a segment that ends here fills the window that the other side announced.
fn fills(peer: &SenderState, end: u32) -> bool {
    let shift = match peer.scale {
        Scale::Unknown => return false,
        Scale::By(shift) if !peer.awaiting => shift,
        Scale::By(_) | Scale::Unused => 0,
    };
    end == peer.last_ack.wrapping_add(peer.win.wrapping_shl(u32::from(shift)))
}

fn acknowledgment(peer: &mut SenderState, segment: &Segment<'_>, labels: &mut Labels) {
    if !segment.any(ACK) || peer.contig == 0 || !after(segment.ack, peer.contig) {
        return;
    }
    if before(peer.contig, peer.next) {
        peer.contig = peer.next;
        labels.set(Label::AckLostSegment);
    } else {
        if peer.dups == 0 {
            labels.set(Label::AckLostSegment);
        }
        // It is said once; and the number counts as many repetitions further on.
        peer.dups = u32::MAX;
    }
}

/// Whether it was there before: needlessly, after repeated acknowledgments, merely late, or after a timeout.
fn again(
    own: &SenderState,
    peer: &SenderState,
    segment: &Segment<'_>,
    len: u32,
    (now, rtt): (u64, u64),
    labels: &mut Labels,
) {
    let (seq, end) = (segment.seq, segment.seq.wrapping_add(len));
    // Data that follows a probe of a closed window repeats the probe's byte.
    let probed = len > 1 && seq == own.next.wrapping_sub(1);
    let behind = own.next != 0 && before(seq, own.next) && !probed;
    if len > 0 && peer.last_ack != 0 && at_most(end, peer.last_ack) {
        labels.set(Label::SpuriousRetransmission);
        labels.set(Label::Retransmission);
        return;
    }
    if !behind {
        return;
    }
    if peer.dups >= 2
        && peer.last_ack == seq
        && now.wrapping_sub(peer.last_time) < MAX_FAST_RETRANSMISSION_DELAY
    {
        labels.set(Label::FastRetransmission);
        labels.set(Label::Retransmission);
        return;
    }
    let limit = if rtt == 0 { DEFAULT_RTT } else { rtt };
    let end = end.wrapping_add(u32::from(segment.any(SYN | FIN)));
    if now.wrapping_sub(own.next_time) < limit && end != own.next {
        labels.set(Label::OutOfOrder);
    } else {
        labels.set(Label::Retransmission);
    }
}

fn advance(own: &mut SenderState, segment: &Segment<'_>, len: u32, now: u64, labels: Labels) {
    let counted = segment.any(SYN | FIN);
    let mut end = segment.seq.wrapping_add(len);
    let stored = (len > 0 || counted) && own.store();
    if stored && counted {
        end = end.wrapping_add(1);
    }
    if !labels.has(Label::ZeroWindowProbe) {
        if own.next == 0 || after(end, own.next) {
            own.next = end;
            own.next_time = now;
        }
        if own.contig == 0 || segment.seq == own.contig {
            own.contig = own.next;
        }
    }
    own.win = segment.win;
    own.last_ack = segment.ack;
    own.last_time = now;
    own.last = labels;
    if segment.any(SYN) {
        own.awaiting = true;
    } else if segment.any(ACK) {
        own.awaiting = false;
    }
}

/// Times one segment at a time, and only such as were sent once (Karn); returns a round trip that ended here.
pub(super) fn sample_rtt(
    own: &mut SenderState,
    peer: &mut SenderState,
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
    if !segment.any(ACK) || before(segment.ack, end) {
        return None;
    }
    peer.timed = None;
    // Clocks that go back measure nothing.
    now.checked_sub(sent)
}
