//! Resets, and whether their sender or a middlebox wrote them; SYNs that an ICMP error rejected.

use std::net::IpAddr;

use super::segment::{ACK, FIN, RST, Segment};
use super::sender::{SenderState, after, before};
use crate::layers::Quote;

/// By so many hops a sender's path does not change from one packet to the next.
const MIN_HOP_DIFFERENCE: u8 = 3;
/// Identifications of one sender that are this far apart were not counted up.
const MAX_ID_STEP: u16 = 1024;
/// How many steps in a row show that a sender counts up.
pub(super) const MIN_ID_STEPS: u8 = 3;
/// Packets that only overtook a reset come within this time.
const MAX_REORDERING: u64 = 2_000_000;
/// Both ends reset within this time.
const MAX_MUTUAL_RESET_TIME: u64 = 1_000_000_000;
/// From so many points on it is likely that somebody else wrote it.
const MIN_MIDDLEBOX_POINTS: u8 = 3;

/// Who wrote a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It fits its sender in everything that can be compared.
    Endpoint,
    /// It does not.
    MiddleboxLikely,
    /// Little can be compared.
    Unclear,
}

/// When it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In answer to a SYN.
    Syn,
    /// Before anything was carried, or right after the first that was.
    Start,
    /// Later.
    Later,
    /// After a FIN, when there was nothing left to cut off.
    Closing,
}

/// The first reset of a connection, and what came after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reset {
    pub(crate) frame: u64,
    at: u64,
    /// It came from the second end.
    pub(crate) flipped: bool,
    /// The time to live of its sender's packets before, and its own; 0 where not known.
    pub(crate) hops: (u8, u8),
    /// How far its identification is off from its sender's last one, where that counts up.
    pub(crate) id_off: Option<u16>,
    /// How far its number is off from what its sender would send next; nothing where that is not known.
    pub(crate) seq_off: Option<i32>,
    /// Its number lies in the window of the other end.
    pub(crate) in_window: bool,
    /// It acknowledges.
    pub(crate) with_ack: bool,
    /// When it came.
    pub(crate) phase: Phase,
    /// How many resets that end sent.
    pub(crate) times: u32,
    /// The other end's first reset, and how much later it came.
    pub(crate) back: Option<(u64, u64)>,
    /// Packets that the end sent after its own reset.
    pub(crate) packets_after: u32,
}

impl Reset {
    /// Takes the first reset. `own` is its sender before it, `peer` the other end.
    pub(super) fn new(
        segment: &Segment<'_>,
        (own, peer): (&SenderState, &SenderState),
        high: u32,
        flipped: bool,
        (frame, at): (u64, u64),
    ) -> Self {
        let window = match peer.scale {
            super::sender::Scale::By(shift) => peer.win.wrapping_shl(u32::from(shift)),
            super::sender::Scale::Unknown | super::sender::Scale::Unused => peer.win,
        };
        let seq_off = (high != 0).then(|| segment.seq.wrapping_sub(high) as i32);
        let expected = peer.last_ack;
        let in_window = expected != 0
            && !before(segment.seq, expected)
            && before(segment.seq, expected.wrapping_add(window.max(1)));
        let id_off = segment
            .id
            .filter(|id| *id != 0 && own.steps >= MIN_ID_STEPS)
            .map(|id| id.wrapping_sub(own.id).min(own.id.wrapping_sub(id)));
        let phase = if (own.flags | peer.flags) & FIN != 0 {
            Phase::Closing
        } else if own.packets <= 1 && high == 0 {
            Phase::Syn
        } else if own.bytes == 0 {
            Phase::Start
        } else {
            Phase::Later
        };
        Self {
            frame,
            at,
            flipped,
            hops: (own.hops, segment.hops),
            id_off,
            seq_off,
            in_window,
            with_ack: segment.any(ACK),
            phase,
            times: 1,
            back: None,
            packets_after: 0,
        }
    }

    /// Takes a packet after it.
    pub(super) fn later(
        &mut self,
        segment: &Segment<'_>,
        flipped: bool,
        advanced: bool,
        (frame, now): (u64, u64),
    ) {
        let since = now.saturating_sub(self.at);
        match (flipped == self.flipped, segment.any(RST)) {
            (true, true) => self.times = self.times.saturating_add(1),
            (true, false) if advanced || since > MAX_REORDERING => {
                self.packets_after = self.packets_after.saturating_add(1)
            }
            (false, true) if self.back.is_none() => self.back = Some((frame, since)),
            (true | false, _) => {}
        }
    }

    /// Returns how many hops it is off; nothing where that cannot be said.
    pub(crate) fn hops_off(&self) -> Option<u8> {
        let (usual, own) = self.hops;
        (usual > 0 && own > 0).then(|| usual.abs_diff(own))
    }

    /// Tells whether both ends reset at once: an end never answers a reset.
    pub(crate) fn both(&self) -> bool {
        self.back.is_some_and(|(_, later)| later <= MAX_MUTUAL_RESET_TIME)
    }

    /// Judges who wrote it. A different path and packets after it weigh most, then a reset of both ends, numbers least.
    pub(crate) fn origin(&self) -> Origin {
        let mut points = 0;
        match self.hops_off() {
            // Systems answer what comes after the end with other defaults than the connection had.
            Some(off) if off >= MIN_HOP_DIFFERENCE && self.phase != Phase::Closing => points += 3,
            Some(1..) => points += 1,
            Some(0) | None => {}
        }
        if self.packets_after > 0 {
            points += 3;
        }
        if self.both() {
            points += 2;
        }
        if self.id_off.is_some_and(|off| off > MAX_ID_STEP) {
            points += 1;
        }
        let exact = self.seq_off == Some(0);
        if self.seq_off.is_some() && !exact && !self.in_window {
            points += 1;
        }
        if points >= MIN_MIDDLEBOX_POINTS {
            Origin::MiddleboxLikely
        } else if points == 0 && self.hops_off() == Some(0) && (exact || self.in_window) {
            Origin::Endpoint
        } else {
            Origin::Unclear
        }
    }
}

/// Tells whether a sender's numbers went on.
pub(super) fn advanced(own: &SenderState, high: u32) -> bool {
    high != 0 && after(own.next, high)
}

/// Why a SYN did not get through, according to an ICMP error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SynRejection {
    /// A filter forbids it; else there is no route.
    pub(crate) filtered: bool,
    /// The type of the error.
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// Who sent it.
    pub(crate) from: IpAddr,
    pub(crate) frame: u64,
}

impl SynRejection {
    /// Reads an error; nothing where it does not say that a SYN goes no further.
    pub(crate) fn by(quote: &Quote, frame: u64) -> Option<Self> {
        let filtered = match (quote.six, quote.kind, quote.code) {
            // A filter says "no such port" of a protocol whose own answer would be a reset.
            (false, 3, 3 | 9 | 10 | 13) | (true, 1, 1 | 4 | 5 | 6) => true,
            // Too large is said of what a SYN is not.
            (false, 3, 4) => return None,
            (false, 3 | 11, _) | (true, 1 | 3, _) => false,
            (false | true, _, _) => return None,
        };
        Some(Self { filtered, kind: quote.kind, code: quote.code, from: quote.from.source(), frame })
    }
}
