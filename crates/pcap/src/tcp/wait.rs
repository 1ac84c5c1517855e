//! What a direction waits for: the time of a stream, divided among four causes; and the times of a zero window.
//!
//! Between any two packets of a connection each direction is in one state, which follows from what was captured so far:
//! `loss` from a retransmission (or the third equal acknowledgment) until everything sent up to then is acknowledged, and the wait that
//! ends with a retransmission; else `window` while the peer's window is closed, or the bytes in flight leave no room in it for another
//! segment; else `path` while bytes are in flight; else `application`. After a reset nothing waits.

use super::segment::RST;
use super::sender::{Scale, SenderState, after, at_most};

/// What a direction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WaitReason {
    /// Nothing is in transit: for data, or for the other end's.
    #[default]
    Application,
    /// For room in the other end's window.
    Window,
    /// For what was lost.
    Loss,
    /// For acknowledgments.
    Path,
}

/// How long a direction waited for what, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WaitTimes {
    /// In the order of the causes.
    spent: [u64; 4],
    state: WaitReason,
    recover: Option<u32>,
}

impl WaitTimes {
    /// Returns how long it waited for this.
    pub(crate) fn of(&self, limit: WaitReason) -> u64 {
        self.spent.get(limit as usize).copied().unwrap_or(0)
    }

    /// Adds the time up to now; it was a wait for what is sent again now.
    pub(super) fn pass(&mut self, nanos: u64, again: bool) {
        let limit = if again && self.state == WaitReason::Path { WaitReason::Loss } else { self.state };
        if let Some(spent) = self.spent.get_mut(limit as usize) {
            *spent = spent.saturating_add(nanos);
        }
    }

    /// Something was lost: until all that was sent is acknowledged.
    pub(super) fn lost(&mut self, own: &SenderState) {
        self.recover = Some(own.next);
    }

    /// Finds what the direction waits for from now on.
    pub(super) fn settle(&mut self, own: &SenderState, peer: &SenderState, largest: u32) {
        if peer.dups == 3 && self.recover.is_none() && after(own.next, peer.last_ack) {
            self.recover = Some(own.next);
        }
        if self.recover.is_some_and(|end| at_most(end, peer.last_ack)) {
            self.recover = None;
        }
        let out = if own.next != 0 && peer.last_ack != 0 && after(own.next, peer.last_ack) {
            own.next.wrapping_sub(peer.last_ack)
        } else {
            0
        };
        let room = match peer.scale {
            // A window of nothing is one whatever the scale.
            _ if peer.win == 0 => Some(0),
            Scale::Unknown => None,
            Scale::By(shift) if !peer.awaiting => Some(peer.win.wrapping_shl(u32::from(shift))),
            Scale::By(_) | Scale::Unused => Some(peer.win),
        };
        self.state = if (own.flags | peer.flags) & RST != 0 {
            WaitReason::Application
        } else if self.recover.is_some() {
            WaitReason::Loss
        } else if room == Some(0) || (out > 0 && room.is_some_and(|room| out.saturating_add(largest) > room))
        {
            WaitReason::Window
        } else if out > 0 {
            WaitReason::Path
        } else {
            WaitReason::Application
        };
    }
}

/// How often and how long an end kept its window closed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ZeroWindowPeriods {
    /// How often it closed.
    pub(crate) periods: u32,
    /// The frame in which it first did.
    pub(crate) frame: u64,
    /// Probes that asked whether it is still closed, of either style.
    pub(crate) probes: u32,
    total: u64,
    longest: u64,
    since: u64,
}

impl ZeroWindowPeriods {
    /// Takes a window that the end announces.
    pub(super) fn announce(&mut self, open: bool, now: u64, frame: u64) {
        if !open && self.since == 0 {
            self.since = now;
            self.periods = self.periods.saturating_add(1);
            if self.frame == 0 {
                self.frame = frame;
            }
        } else if open && self.since != 0 {
            (self.total, self.longest) = self.until(now);
            self.since = 0;
        }
    }

    /// Returns how long it was closed in all and at a stretch, up to the end of the connection.
    pub(crate) fn until(&self, now: u64) -> (u64, u64) {
        if self.since == 0 {
            return (self.total, self.longest);
        }
        let duration = now.saturating_sub(self.since);
        (self.total.saturating_add(duration), self.longest.max(duration))
    }

    /// Tells whether it is still closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.since != 0
    }
}
