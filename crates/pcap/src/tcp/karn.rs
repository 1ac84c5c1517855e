//! Round trips by Karn's rule: what was sent twice measures nothing.

use super::segment::{ACK, SYN, Segment};
use super::side::{Side, before};
use crate::label::{Label, Labels};

/// Times one segment at a time, and only such as were sent once (Karn); returns a round trip that ended here.
pub(super) fn time(
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
    if !segment.any(ACK) || before(segment.ack, end) {
        return None;
    }
    peer.timed = None;
    // Clocks that go back measure nothing.
    now.checked_sub(sent)
}
