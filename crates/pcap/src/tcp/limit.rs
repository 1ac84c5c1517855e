//! What a direction waits for: the time of a connection, divided among four causes.
//!
//! Between any two packets of a connection each direction is in one state, which follows from what was captured so far:
//! `loss` from a repetition (or the third equal acknowledgment) until everything sent up to then is acknowledged, and the wait that
//! ends with a repetition; else `window` while the other end's window is closed, or what is on its way leaves no room in it for
//! another segment; else `path` while something is on its way; else `application`: nothing is, and the window is open. After a reset
//! nobody waits.

use super::segment::RST;
use super::side::{Scale, Side, after, at_most};

/// What a direction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Limit {
    /// Nothing is on its way: for data, or for the other end's.
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
pub(crate) struct Limits {
    /// In the order of the causes.
    spent: [u64; 4],
    state: Limit,
    recover: Option<u32>,
}

impl Limits {
    /// Returns how long it waited for this.
    pub(crate) fn of(&self, limit: Limit) -> u64 {
        self.spent.get(limit as usize).copied().unwrap_or(0)
    }

    /// Adds the time up to now; it was a wait for what is sent again now.
    pub(super) fn pass(&mut self, nanos: u64, again: bool) {
        let limit = if again && self.state == Limit::Path { Limit::Loss } else { self.state };
        if let Some(spent) = self.spent.get_mut(limit as usize) {
            *spent = spent.saturating_add(nanos);
        }
    }

    /// Something was lost: until all that was sent is acknowledged.
    pub(super) fn lost(&mut self, own: &Side) {
        self.recover = Some(own.next);
    }

    /// Finds what the direction waits for from now on.
    pub(super) fn settle(&mut self, own: &Side, peer: &Side, largest: u32) {
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
            Limit::Application
        } else if self.recover.is_some() {
            Limit::Loss
        } else if room == Some(0) || (out > 0 && room.is_some_and(|room| out.saturating_add(largest) > room))
        {
            Limit::Window
        } else if out > 0 {
            Limit::Path
        } else {
            Limit::Application
        };
    }
}
