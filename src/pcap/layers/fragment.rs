//! Fragments that wait for the others of their packet, in bounded memory.

use std::collections::VecDeque;

use super::net::Net;
use crate::pcap::hash::Map;

/// No packet is larger than this.
const LARGEST: usize = 65_535;
/// How many packets may be incomplete at a time.
const MOST_SETS: usize = 4096;
/// How many bytes may wait.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How many pieces a packet may come in.
const MOST_PIECES: usize = 2048;

/// Which packet a fragment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) net: Net,
    pub(super) id: u32,
    pub(super) protocol: u8,
    pub(super) vlan: u16,
}

/// One fragment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    /// Where its bytes belong.
    pub(super) start: usize,
    /// Others follow.
    pub(super) more: bool,
    /// Its bytes.
    pub(super) data: &'a [u8],
}

/// The fragments that wait.
#[derive(Debug, Clone, Default)]
pub(super) struct Fragments {
    waiting: Map<Key, Set>,
    /// Sets by age; a set that was completed is still named here until its turn comes.
    age: VecDeque<(Key, u64)>,
    bytes: usize,
    counter: u64,
    given_up: u64,
}

#[derive(Debug, Clone, Default)]
struct Set {
    pieces: Vec<(usize, Vec<u8>)>,
    end: Option<usize>,
    bytes: usize,
    born: u64,
}

impl Fragments {
    /// Adds a fragment and returns the packet that it completes.
    pub(super) fn add(&mut self, key: Key, piece: Piece<'_>) -> Option<Vec<u8>> {
        let counter = &mut self.counter;
        let age = &mut self.age;
        let set = self.waiting.entry(key).or_insert_with(|| {
            *counter += 1;
            age.push_back((key, *counter));
            Set { born: *counter, ..Set::default() }
        });
        let end = piece.start + piece.data.len();
        if end > LARGEST || set.pieces.len() >= MOST_PIECES {
            return None;
        }
        if !piece.more && set.end.is_none() {
            set.end = Some(end);
        }
        set.pieces.push((piece.start, piece.data.to_vec()));
        set.bytes += piece.data.len();
        self.bytes += piece.data.len();
        // Only a set whose last piece is there can be complete, and only if there are bytes enough.
        if set.end.is_some_and(|end| set.bytes >= end)
            && let Some(whole) = set.joined()
        {
            self.bytes -= set.bytes;
            self.waiting.remove(&key);
            return Some(whole);
        }
        self.make_room();
        None
    }

    /// Returns how many incomplete packets were given up for want of room.
    pub(super) fn given_up(&self) -> u64 {
        self.given_up
    }

    fn make_room(&mut self) {
        while self.waiting.len() > MOST_SETS || self.bytes > MOST_BYTES || self.age.len() > 4 * MOST_SETS {
            let Some((key, born)) = self.age.pop_front() else {
                return;
            };
            if self.waiting.get(&key).is_some_and(|set| set.born == born)
                && let Some(set) = self.waiting.remove(&key)
            {
                self.bytes -= set.bytes;
                self.given_up += 1;
            }
        }
    }
}

impl Set {
    /// Joins the pieces where nothing is missing between them; of what came twice the first is kept.
    fn joined(&mut self) -> Option<Vec<u8>> {
        let end = self.end?;
        self.pieces.sort_by_key(|(start, _)| *start);
        let mut covered = 0;
        for (start, data) in &self.pieces {
            if *start > covered {
                return None;
            }
            covered = covered.max(start + data.len());
        }
        let mut whole = Vec::with_capacity(end);
        for (start, data) in &self.pieces {
            let known = whole.len().checked_sub(*start)?;
            whole.extend_from_slice(data.get(known..).unwrap_or_default());
        }
        (whole.len() >= end).then(|| {
            whole.truncate(end);
            whole
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: u32) -> Key {
        Key { net: Net::Four([10, 0, 0, 1], [10, 0, 0, 2]), id, protocol: 17, vlan: 0 }
    }

    #[test]
    fn the_last_piece_to_arrive_completes_the_packet_in_any_order() {
        let mut fragments = Fragments::default();
        assert!(fragments.add(key(1), Piece { start: 8, more: false, data: b"late" }).is_none());
        assert!(fragments.add(key(2), Piece { start: 0, more: true, data: b"another!" }).is_none());
        let whole = fragments.add(key(1), Piece { start: 0, more: true, data: b"at first" });
        assert_eq!(whole.as_deref(), Some(&b"at firstlate"[..]));
    }

    #[test]
    fn of_what_came_twice_the_first_is_kept() {
        let mut fragments = Fragments::default();
        assert!(fragments.add(key(1), Piece { start: 0, more: true, data: b"AAAAAAAA" }).is_none());
        assert!(fragments.add(key(1), Piece { start: 0, more: true, data: b"BBBBBBBB" }).is_none());
        let whole = fragments.add(key(1), Piece { start: 8, more: false, data: b"C" });
        assert_eq!(whole.as_deref(), Some(&b"AAAAAAAAC"[..]));
    }

    #[test]
    fn a_flood_of_first_pieces_is_given_up_in_bounded_memory() {
        let mut fragments = Fragments::default();
        for id in 0..20_000 {
            assert!(fragments.add(key(id), Piece { start: 0, more: true, data: &[0; 1400] }).is_none());
        }
        assert!(fragments.bytes <= MOST_BYTES);
        assert!(fragments.age.len() <= 4 * MOST_SETS);
        assert!(fragments.given_up() > 10_000);
    }
}
