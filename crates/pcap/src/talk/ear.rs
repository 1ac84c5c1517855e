//! Which protocol a connection speaks, as far as its first bytes tell.

use super::tally::At;
use super::{http, tls};
use crate::layers::View;
use crate::tcp::{FIN, Flow, RST, SYN, Segment};

/// How many segments are looked at for a beginning where the beginning of the connection was not seen.
const TRIES: u8 = 8;
/// How far ahead of the beginning a segment may lie that came before it, and how long it may be.
const FARTHEST: u32 = 16_384;
const LONGEST: usize = 4096;
/// How many such segments are kept.
const MOST_EARLY: usize = 4;

/// What is listened for in a connection.
#[derive(Debug, Clone)]
pub(crate) enum Ear {
    /// The beginning; so many segments were none.
    Waiting(u8),
    /// The beginning, and what came before it.
    Early(Box<Early>),
    /// A handshake.
    Tls(Box<tls::Shake>),
    /// Requests and answers.
    Http(Box<http::Exchange>),
    /// Nothing more.
    Deaf,
}

impl Default for Ear {
    fn default() -> Self {
        Self::Waiting(0)
    }
}

/// Segments that came before the first one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Early {
    /// The direction of each, its number, and what it carries.
    pub(super) segments: Vec<(bool, u32, Vec<u8>)>,
    tries: u8,
}

/// A segment with what it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard<'a> {
    pub(super) at: At,
    /// The number of its first byte.
    pub(super) seq: u32,
    /// That of the first byte of its direction, where the SYN was seen.
    pub(super) start: Option<u32>,
    pub(super) payload: View<'a>,
    pub(super) closes: bool,
    pub(super) resets: bool,
}

impl<'a> Heard<'a> {
    /// Looks at a segment of a connection.
    pub(super) fn new(flow: &mut Flow, segment: &Segment<'a>, at: At) -> Self {
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

impl Ear {
    /// Says whether anything is listened for: the quick look at every segment.
    pub(crate) fn listens(&self) -> bool {
        !matches!(self, Self::Deaf)
    }

    /// Returns about how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Waiting(_) | Self::Deaf => 0,
            Self::Early(early) => {
                let segments = early
                    .segments
                    .iter()
                    .map(|(_, _, data)| size_of::<(bool, u32, Vec<u8>)>() + data.capacity());
                size_of::<Early>() + segments.sum::<usize>()
            }
            Self::Tls(shake) => shake.held(),
            Self::Http(_) => size_of::<http::Exchange>(),
        }
    }

    /// Decides by a segment what to listen for; hands out what came before it.
    pub(super) fn decided(self, heard: &Heard<'_>) -> (Self, Option<Box<Early>>) {
        let (tries, early) = match self {
            Self::Waiting(tries) => (tries, None),
            Self::Early(early) => (early.tries, Some(early)),
            known @ (Self::Tls(_) | Self::Http(_) | Self::Deaf) => return (known, None),
        };
        let View { data, wire } = heard.payload;
        if wire == 0 || heard.resets {
            return (early.map_or(Self::Waiting(tries), Self::Early), None);
        }
        let ahead = heard.start.map_or(0, |start| heard.seq.wrapping_sub(start));
        if ahead == 0 {
            if tls::record(data) && opens(data, heard.start.is_some()) {
                return (Self::Tls(Box::default()), early);
            }
            if http::begins(data) {
                return (Self::Http(Box::default()), early);
            }
            // Whoever begins with something else goes on with it.
            if heard.start.is_some() {
                return (Self::Deaf, None);
            }
        }
        let tries = tries.saturating_add(1);
        if tries >= TRIES {
            return (Self::Deaf, None);
        }
        let fits = ahead > 0 && ahead <= FARTHEST && data.len() == wire && wire <= LONGEST;
        if !fits && early.is_none() {
            return (Self::Waiting(tries), None);
        }
        let mut early = early.unwrap_or_default();
        early.tries = tries;
        if fits && early.segments.len() < MOST_EARLY {
            early.segments.push((heard.at.flipped, heard.seq, data.to_vec()));
        }
        (Self::Early(early), None)
    }
}

/// Says whether a record is one that a connection begins with, or an alert where the beginning may have been missed.
fn opens(data: &[u8], first: bool) -> bool {
    match data {
        [22, _, _, _, _, kind, ..] => matches!(kind, 1 | 2),
        [22, ..] => true,
        [21, _, _, 0, 2, 1 | 2, _, ..] => first || data.len() == 7,
        _ => false,
    }
}
