//! One direction of a path, as packets meet it one after the other.

use crate::host::simulated::guest::{Count, Shaping};
use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::path::{DropPoint, DropResponse, PathDirection, nanos};

/// How long a packet waits for its turn where a rate is limited, else it is dropped.
const MAX_QUEUE_NANOS: u64 = 400_000_000;
/// Nanoseconds a byte takes on the wire.
const BYTE: u64 = 1;

/// A packet that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::simulated::wire) struct Delivery {
    /// When it passed its sender's device.
    pub(in crate::host::simulated::wire) left: u64,
    /// When it passed its receiver's device.
    pub(in crate::host::simulated::wire) came: Option<u64>,
    /// Whether its receiver's programs get it.
    pub(in crate::host::simulated::wire) received: bool,
    /// Whether it is damaged.
    pub(in crate::host::simulated::wire) broken: bool,
    /// Whether it was too large for the path.
    pub(in crate::host::simulated::wire) too_large: bool,
}

/// One direction of a path.
#[derive(Debug, Clone)]
pub(in crate::host::simulated::wire) struct Link {
    shapings: Vec<(Shaping, u64)>,
    base: u64,
    fall: Option<DropPoint>,
    narrow: Option<u32>,
    chance: Chance,
    last_left: u64,
    last_came: u64,
    /// What the sender's own device counted.
    pub(super) count: Count,
}

impl Link {
    /// Opens a direction.
    pub(in crate::host::simulated::wire) fn new(
        leg: &PathDirection,
        narrow: Option<u32>,
        mut chance: Chance,
    ) -> Self {
        let shapings = [leg.own].into_iter().chain(leg.between.iter().copied()).map(|shaping| (shaping, 0));
        // No two moments find a network equally busy.
        let base = scaled(leg.base, chance.between(0.97, 1.12));
        Self {
            shapings: shapings.collect(),
            base,
            fall: leg.fall,
            narrow,
            chance,
            last_left: 0,
            last_came: 0,
            count: Count::default(),
        }
    }

    /// How it ends here, if it ends at its receiver.
    pub(in crate::host::simulated::wire) fn refusal(&self) -> Option<DropResponse> {
        match self.fall {
            Some(DropPoint::Receiver(how)) => Some(how),
            Some(DropPoint::Sender(_) | DropPoint::Between) | None => None,
        }
    }

    /// How it ends here, if it is never sent.
    pub(in crate::host::simulated::wire) fn own_refusal(&self) -> Option<DropResponse> {
        match self.fall {
            Some(DropPoint::Sender(how)) => Some(how),
            Some(DropPoint::Receiver(_) | DropPoint::Between) | None => None,
        }
    }

    /// Sends a packet of so many bytes; none, one or two come of it.
    pub(in crate::host::simulated::wire) fn send(&mut self, at: u64, bytes: u32) -> Vec<Delivery> {
        if self.own_refusal().is_some() {
            return Vec::new();
        }
        let mut copies = vec![(at, false)];
        let mut left = Vec::new();
        for location in 0..self.shapings.len() {
            copies = copies.into_iter().flat_map(|copy| self.shape(location, copy, bytes)).collect();
            if location == 0 {
                self.count(&copies, bytes);
                left.clone_from(&copies);
            }
        }
        // What appliances between add or take counts for the first copies.
        let ends = copies.into_iter().map(Some).chain([None, None]);
        left.into_iter().zip(ends).map(|(left, end)| self.carry(left, end, bytes)).collect()
    }

    fn count(&mut self, copies: &[(u64, bool)], bytes: u32) {
        let packets = copies.len() as u64;
        // A discipline sees the frame, too.
        self.count.packets += packets;
        self.count.bytes += packets * (u64::from(bytes) + 14);
        self.count.drops += u64::from(copies.is_empty());
    }

    fn carry(&mut self, (left, broken): (u64, bool), end: Option<(u64, bool)>, bytes: u32) -> Delivery {
        // Packets that leave at once leave one after the other.
        let left = if left == self.last_left { left + 600 } else { left };
        self.last_left = left;
        let too_large = self.narrow.is_some_and(|narrow| bytes > narrow);
        let lost = Delivery { left, came: None, received: false, broken, too_large };
        let Some((at, broken)) = end else { return lost };
        if too_large || self.fall == Some(DropPoint::Between) {
            return lost;
        }
        let came = at.max(left) + self.base + u64::from(bytes) * BYTE;
        let came = if came <= self.last_came && self.last_came - came < 20_000 {
            self.last_came + 300
        } else {
            came
        };
        self.last_came = came;
        Delivery { left, came: Some(came), received: self.fall.is_none() && !broken, broken, too_large }
    }

    /// Takes a packet through one device.
    fn shape(&mut self, location: usize, (at, broken): (u64, bool), bytes: u32) -> Vec<(u64, bool)> {
        let Some((shaping, busy)) = self.shapings.get_mut(location) else { return vec![(at, broken)] };
        if self.chance.hit(shaping.loss) {
            return Vec::new();
        }
        let copies = if self.chance.hit(shaping.duplicate) { 2 } else { 1 };
        let broken = broken || self.chance.hit(shaping.corrupt);
        let mut out = Vec::new();
        for _ in 0..copies {
            let early = self.chance.hit(shaping.reorder);
            let swing = self.chance.between(-1.0, 1.0);
            let delay = nanos(shaping.delay);
            let jitter = nanos(shaping.jitter);
            let wait = if swing < 0.0 {
                delay.saturating_sub(scaled(jitter, -swing))
            } else {
                delay.saturating_add(scaled(jitter, swing))
            };
            let mut leaves = at.saturating_add(if early { 0 } else { wait });
            if let Some((bits, burst)) = shaping.rate.filter(|(bits, _)| *bits > 0) {
                let took = |bytes: u64| bytes.saturating_mul(8_000_000_000) / bits;
                let credit = at.saturating_sub(took(burst));
                let done = (*busy).max(credit).saturating_add(took(u64::from(bytes) + 14));
                if done.saturating_sub(at) > MAX_QUEUE_NANOS.max(took(u64::from(bytes) + 14)) {
                    continue;
                }
                *busy = done;
                if location == 0 && done > at {
                    self.count.waits += 1;
                }
                leaves = leaves.max(done);
            }
            out.push((leaves, broken));
        }
        out
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "times are far below what is exact, and no factor is negative"
)]
fn scaled(time: u64, factor: f64) -> u64 {
    (time as f64 * factor) as u64
}
