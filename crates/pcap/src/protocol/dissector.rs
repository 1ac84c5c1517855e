//! Selects the dissector of a stream by its first bytes.

use super::stats::PacketContext;
use super::{http, tls};
use crate::layers::View;
use crate::tcp::{FIN, Flow, RST, SYN, Segment};

/// How many segments are looked at for a beginning where the beginning of the connection was not seen.
const MAX_TRIES: u8 = 8;
/// How far ahead of the beginning a segment may lie that came before it, and how long it may be.
const MAX_DISTANCE: u32 = 16_384;
const MAX_BUFFERED_BYTES: usize = 4096;
/// How many such segments are kept.
const MAX_EARLY_SEGMENTS: usize = 4;

/// What is listened for in a connection.
#[derive(Debug, Clone)]
pub(crate) enum Dissector {
    /// The beginning; so many segments were none.
    Undecided(u8),
    /// The beginning, and what came before it.
    EarlySegments(Box<EarlySegments>),
    /// A handshake.
    Tls(Box<tls::Handshake>),
    /// Requests and answers.
    Http(Box<http::Exchange>),
    /// Nothing more.
    Ignored,
}

impl Default for Dissector {
    fn default() -> Self {
        Self::Undecided(0)
    }
}

/// Segments that came before the first one.
#[derive(Debug, Clone, Default)]
pub(crate) struct EarlySegments {
    /// The direction of each, its number, and what it carries.
    pub(super) segments: Vec<(bool, u32, Vec<u8>)>,
    tries: u8,
}

/// A segment with what it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentData<'a> {
    pub(super) at: PacketContext,
    /// The number of its first byte.
    pub(super) seq: u32,
    /// That of the first byte of its direction, where the SYN was seen.
    pub(super) start: Option<u32>,
    pub(super) payload: View<'a>,
    pub(super) closes: bool,
    pub(super) resets: bool,
}

impl<'a> SegmentData<'a> {
    /// Examines a segment of a connection.
    pub(super) fn new(flow: &mut Flow, segment: &Segment<'a>, at: PacketContext) -> Self {
        Self {
            at,
            seq: segment.seq.wrapping_add(u32::from(segment.any(SYN))),
            start: start(flow, at.flipped),
            payload: segment.payload(),
            closes: segment.any(FIN),
            resets: segment.any(RST),
        }
    }
}

/// Returns the number of the first byte of a direction. Without a SYN the initial number is only what others make of it.
pub(super) fn start(flow: &mut Flow, flipped: bool) -> Option<u32> {
    let seen = flow.turns.asked || flow.turns.accepted;
    flow.pair(flipped).0.isn.filter(|_| seen).map(|isn| isn.wrapping_add(1))
}

impl Dissector {
    /// Tells whether anything is listened for: the quick look at every segment.
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self, Self::Ignored)
    }

    /// Returns about how many bytes it takes.
    pub(super) fn buffered_bytes(&self) -> usize {
        match self {
            Self::Undecided(_) | Self::Ignored => 0,
            Self::EarlySegments(early) => {
                let segments = early
                    .segments
                    .iter()
                    .map(|(_, _, data)| size_of::<(bool, u32, Vec<u8>)>() + data.capacity());
                size_of::<EarlySegments>() + segments.sum::<usize>()
            }
            Self::Tls(handshake) => handshake.buffered_bytes(),
            Self::Http(_) => size_of::<http::Exchange>(),
        }
    }

    /// Decides by a segment what to listen for; returns what came before it.
    pub(super) fn choose(self, segment_data: &SegmentData<'_>) -> (Self, Option<Box<EarlySegments>>) {
        let (tries, early) = match self {
            Self::Undecided(tries) => (tries, None),
            Self::EarlySegments(early) => (early.tries, Some(early)),
            known @ (Self::Tls(_) | Self::Http(_) | Self::Ignored) => return (known, None),
        };
        let View { data, wire } = segment_data.payload;
        if wire == 0 || segment_data.resets {
            return (early.map_or(Self::Undecided(tries), Self::EarlySegments), None);
        }
        let ahead = segment_data.start.map_or(0, |start| segment_data.seq.wrapping_sub(start));
        if ahead == 0 {
            if tls::record(data) && opens(data, segment_data.start.is_some()) {
                return (Self::Tls(Box::default()), early);
            }
            if http::begins(data) {
                return (Self::Http(Box::default()), early);
            }
            // Whoever begins with something else goes on with it.
            if segment_data.start.is_some() {
                return (Self::Ignored, None);
            }
        }
        let tries = tries.saturating_add(1);
        if tries >= MAX_TRIES {
            return (Self::Ignored, None);
        }
        let fits = ahead > 0 && ahead <= MAX_DISTANCE && data.len() == wire && wire <= MAX_BUFFERED_BYTES;
        if !fits && early.is_none() {
            return (Self::Undecided(tries), None);
        }
        let mut early = early.unwrap_or_default();
        early.tries = tries;
        if fits && early.segments.len() < MAX_EARLY_SEGMENTS {
            early.segments.push((segment_data.at.flipped, segment_data.seq, data.to_vec()));
        }
        (Self::EarlySegments(early), None)
    }
}

/// Tells whether a record is one that a connection begins with, or an alert where the beginning may have been missed.
fn opens(data: &[u8], first: bool) -> bool {
    match data {
        [22, _, _, _, _, kind, ..] => matches!(kind, 1 | 2),
        [22, ..] => true,
        [21, _, _, 0, 2, 1 | 2, _, ..] => first || data.len() == 7,
        _ => false,
    }
}
