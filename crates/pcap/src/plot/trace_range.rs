//! Which part of a connection is drawn, and where its packets stand.

use crate::series::TracePacket;

/// More packets than this cannot be distinguished.
const MAX_PACKETS: usize = 400;
/// Where trouble takes less than this part of the time, the rest is left away.
const MAX_TROUBLE_SHARE: u64 = 4;
/// How many packets before and after stay all the same.
const CONTEXT_PACKETS: usize = 12;

/// Returns the stretch of packets with the most trouble, and a little around it.
pub(super) fn around(events: &[TracePacket]) -> &[TracePacket] {
    let dense = densest(events);
    let troubled = || dense.iter().filter(|event| event.trouble() > 0).map(|event| event.time);
    let (Some(first), Some(last)) = (troubled().min(), troubled().max()) else {
        return dense;
    };
    let time = |event: Option<&TracePacket>| event.map_or(0, |event| event.time);
    let whole = time(dense.last()).saturating_sub(time(dense.first()));
    // One lone packet has no span of its own.
    let span = last.saturating_sub(first).max(whole / 50);
    if span >= whole / MAX_TROUBLE_SHARE {
        return dense;
    }
    let (from, to) = (first.saturating_sub(span / 2), last.saturating_add(span / 2));
    let begin =
        dense.iter().position(|event| event.time >= from).unwrap_or(0).saturating_sub(CONTEXT_PACKETS);
    let end =
        dense.iter().rposition(|event| event.time <= to).map_or(dense.len(), |at| at + 1 + CONTEXT_PACKETS);
    let end = end.min(dense.len());
    dense.get(begin..end).unwrap_or(dense)
}

fn densest(events: &[TracePacket]) -> &[TracePacket] {
    if events.len() <= MAX_PACKETS {
        return events;
    }
    let troubles: Vec<u64> = events.iter().map(TracePacket::trouble).collect();
    let mut sum: u64 = troubles.iter().take(MAX_PACKETS).sum();
    let (mut best, mut begin) = (sum, 0);
    for (at, (gone, come)) in troubles.iter().zip(troubles.iter().skip(MAX_PACKETS)).enumerate() {
        sum = sum - gone + come;
        if sum > best {
            (best, begin) = (sum, at + 1);
        }
    }
    events.get(begin..begin + MAX_PACKETS).unwrap_or(events)
}

/// A direction: where sequence numbers begin, so that they fit on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Direction {
    /// The end that was addressed first sends.
    pub(super) back: bool,
    base: u32,
    /// The highest place on the axis.
    pub(super) top: f64,
}

impl Direction {
    /// Examines a direction; its data says where it begins, otherwise any packet, otherwise what is acknowledged.
    pub(super) fn of(events: &[TracePacket], back: bool) -> Self {
        let own = || events.iter().filter(move |event| event.back == back);
        let data = || own().filter(|event| event.len > 0);
        let acks = || events.iter().filter(move |event| event.back != back && acknowledges(event));
        let any = data().next().or_else(|| own().next()).map(|event| event.seq);
        let start = any.or_else(|| acks().next().map(|event| event.ack)).unwrap_or(0);
        let below = own().filter(|event| event.len > 0 || event.flags & RST == 0);
        let lowest = below.map(|event| apart(event.seq, start)).min().unwrap_or(0).min(0);
        let mut direction = Self { back, base: start.wrapping_add(lowest as u32), top: 1.0 };
        let ends =
            own().filter(|event| event.flags & RST == 0).map(|event| event.seq.wrapping_add(event.len));
        direction.top = ends.map(|end| direction.at(end)).fold(1.0, f64::max);
        direction
    }

    /// Returns where a sequence number stands.
    pub(super) fn at(&self, number: u32) -> f64 {
        f64::from(apart(number, self.base))
    }

    /// Returns where a number stands that may be anything: within the axis in any case.
    pub(super) fn within(&self, number: u32) -> f64 {
        self.at(number).clamp(0.0, self.top)
    }

    /// Returns how much trouble its packets mean.
    pub(super) fn trouble(&self, events: &[TracePacket]) -> u64 {
        events.iter().filter(|event| event.back == self.back).map(TracePacket::trouble).sum()
    }

    /// Returns how many bytes it carries.
    pub(super) fn bytes(&self, events: &[TracePacket]) -> u64 {
        events.iter().filter(|event| event.back == self.back).map(|event| u64::from(event.len)).sum()
    }
}

pub(super) const RST: u8 = 4;
const ACK: u8 = 16;

/// Tells whether a packet acknowledges something.
pub(super) fn acknowledges(event: &TracePacket) -> bool {
    event.flags & ACK != 0
}

fn apart(number: u32, base: u32) -> i32 {
    number.wrapping_sub(base) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{Label, Labels};

    fn event(time: u64, bad: bool) -> TracePacket {
        let mut labels = Labels::default();
        if bad {
            labels.set(Label::Retransmission);
        }
        TracePacket { time, labels, seq: time as u32, len: 1, ..TracePacket::default() }
    }

    #[test]
    fn the_stretch_in_trouble_is_shown() {
        let events: Vec<TracePacket> =
            (0..2000).map(|time| event(time * 1000, (1500..1520).contains(&time))).collect();
        let shown = around(&events);
        assert!(shown.len() < MAX_PACKETS);
        assert_eq!(shown.iter().filter(|event| event.trouble() > 0).count(), 20);
    }

    #[test]
    fn a_short_connection_in_trouble_all_over_is_shown_whole() {
        let events: Vec<TracePacket> = (0..50).map(|time| event(time * 1000, time % 5 == 0)).collect();
        assert_eq!(around(&events), &events[..]);
        assert!(around(&[]).is_empty());
    }

    #[test]
    fn numbers_that_wrap_stay_in_order() {
        let at = |seq: u32| TracePacket { seq, len: 10, ..TracePacket::default() };
        let events = [at(u32::MAX - 5), at(4), at(14)];
        let direction = Direction::of(&events, false);
        assert_eq!((direction.at(u32::MAX - 5), direction.at(4), direction.top), (0.0, 10.0, 30.0));
        assert_eq!((direction.within(1000), direction.within(u32::MAX - 100)), (30.0, 0.0));
    }
}
