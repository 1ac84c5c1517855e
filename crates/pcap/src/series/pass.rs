//! Collects the series during the pass.

use super::timeline::Timeline;
use super::trace::{PacketTrace, PacketTraces, TracePacket};
use crate::address_filter::AddressFilter;
use crate::histogram::Histogram;
use crate::label::Labels;
use crate::read::Frame;
use crate::tcp::{Flow, Segment};

/// Returns how many round trips of a connection were measured so far, to either end.
pub(crate) fn measured(flow: &Flow) -> [u64; 2] {
    flow.rtts.as_deref().map_or([0, 0], |rtts| rtts.each_ref().map(Histogram::count))
}

/// Returns the round trip to the farther end that was just measured: the nearer one says little of the path.
fn measured_now(flow: &Flow, known: [u64; 2]) -> Option<u64> {
    let [one, two] = flow.rtts.as_deref()?;
    let [first, second] = known;
    let farther = |this: &Histogram, that: &Histogram| that.count() == 0 || this.min() >= that.min();
    if one.count() > first && farther(one, two) {
        Some(one.latest())
    } else {
        (two.count() > second && farther(two, one)).then(|| two.latest())
    }
}

/// What pictures need of a capture.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// All frames.
    pub timeline: Timeline,
    /// The worst connection, once the pass has ended.
    pub worst: Option<PacketTrace>,
    traces: PacketTraces,
    focus: Option<AddressFilter>,
    time: u64,
    wire: usize,
}

impl Series {
    /// Creates an empty value.
    pub(crate) fn new(focus: Option<AddressFilter>) -> Self {
        Self { focus, ..Self::default() }
    }

    /// A frame begins.
    pub(crate) fn begin(&mut self, frame: &Frame<'_>) {
        self.time = frame.time;
        self.wire = frame.wire;
    }

    /// A frame ends, and these are its labels.
    pub(crate) fn end(&mut self, labels: Labels) {
        self.timeline.frame(self.time, self.wire, labels);
    }

    /// Takes a segment that its connection has taken; `known` is how many round trips were measured before.
    pub(crate) fn segment(
        &mut self,
        flow: &Flow,
        segment: &Segment<'_>,
        (flipped, frame, known): (bool, u64, [u64; 2]),
        labels: Labels,
    ) {
        if let Some(rtt) = measured_now(flow, known) {
            self.timeline.rtt(self.time, rtt);
        }
        let (first, second) = flow.ends.sockets();
        if self.focus.is_none_or(|focus| focus.meets(first) || focus.meets(second)) {
            let event = TracePacket {
                frame,
                time: self.time,
                seq: segment.seq,
                ack: segment.ack,
                len: segment.len.unwrap_or(0),
                flags: segment.flags,
                back: flipped != flow.flipped,
                labels,
            };
            self.traces.take(flow, event);
        }
    }

    /// Ends, and forgets what is not drawn.
    pub(crate) fn finish(&mut self) {
        self.worst = std::mem::take(&mut self.traces).worst();
    }
}
