//! What is gathered in the pass.

use super::timeline::Timeline;
use super::trace::{Event, Trace, Traces};
use crate::figure::Spread;
use crate::focus::Focus;
use crate::label::Labels;
use crate::read::Frame;
use crate::tcp::{Flow, Segment};

/// Returns how many round trips of a connection were measured so far, to either end.
pub(crate) fn measured(flow: &Flow) -> [u64; 2] {
    flow.trips.as_deref().map_or([0, 0], |trips| trips.each_ref().map(Spread::count))
}

/// Returns the round trip to the farther end that was just measured: the nearer one says little of the path.
fn measured_now(flow: &Flow, known: [u64; 2]) -> Option<u64> {
    let [one, two] = flow.trips.as_deref()?;
    let [first, second] = known;
    let farther = |this: &Spread, that: &Spread| that.count() == 0 || this.least() >= that.least();
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
    pub worst: Option<Trace>,
    traces: Traces,
    focus: Option<Focus>,
    time: u64,
    wire: usize,
}

impl Series {
    /// Begins.
    pub(crate) fn new(focus: Option<Focus>) -> Self {
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
        if let Some(trip) = measured_now(flow, known) {
            self.timeline.trip(self.time, trip);
        }
        let (first, second) = flow.ends.sockets();
        if self.focus.is_none_or(|focus| focus.meets(first) || focus.meets(second)) {
            let event = Event {
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
