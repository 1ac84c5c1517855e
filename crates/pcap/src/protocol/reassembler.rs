//! Reassembles the beginning of a stream from segments in any order.

/// How many segments may wait for one before them, how long one is, and how far ahead it may lie.
const MAX_EARLY_SEGMENTS: usize = 4;
const MAX_BUFFERED_BYTES: usize = 4096;
const MAX_DISTANCE: u32 = 16_384;

/// One direction of a connection.
#[derive(Debug, Clone)]
pub(super) struct Reassembler {
    next: u32,
    early: Vec<(u32, Vec<u8>)>,
    /// Something is missing, and will not be had any more.
    lost: bool,
}

/// What comes next of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk<'a> {
    /// It follows what came before.
    Next(&'a [u8]),
    /// Something before it is missing.
    Behind(&'a [u8]),
    /// What follows is missing.
    Cut,
}

impl Reassembler {
    /// Begins at a sequence number.
    pub(super) fn at(next: u32) -> Self {
        Self { next, early: Vec::new(), lost: false }
    }

    /// Returns how many bytes wait.
    pub(super) fn buffered_bytes(&self) -> usize {
        self.early.iter().map(|(_, data)| data.capacity()).sum()
    }

    /// Takes what a segment carries; `wire` bytes, of which some may not have been captured.
    pub(super) fn take(&mut self, seq: u32, data: &[u8], wire: usize, mut each: impl FnMut(Chunk<'_>)) {
        let ahead = seq.wrapping_sub(self.next);
        let back = self.next.wrapping_sub(seq);
        if (back as i32) >= 0 {
            self.follow(seq, data, wire, &mut each);
            self.catch_up(&mut each);
        } else if self.early.iter().any(|(known, _)| *known == seq) {
            // It came twice.
        } else if ahead <= MAX_DISTANCE
            && self.early.len() < MAX_EARLY_SEGMENTS
            && data.len() == wire
            && wire <= MAX_BUFFERED_BYTES
        {
            self.early.push((seq, data.to_vec()));
        } else {
            // Whatever is missing is not waited for any longer.
            self.early.clear();
            self.lost = true;
            self.next = seq;
            self.follow(seq, data, wire, &mut each);
        }
    }

    fn follow(&mut self, seq: u32, data: &[u8], wire: usize, each: &mut impl FnMut(Chunk<'_>)) {
        let known = self.next.wrapping_sub(seq) as usize;
        if known >= wire {
            return;
        }
        if let Some(new) = data.get(known..).filter(|new| !new.is_empty()) {
            each(if std::mem::take(&mut self.lost) { Chunk::Behind(new) } else { Chunk::Next(new) });
        }
        self.next = seq.wrapping_add(wire as u32);
        if data.len() < wire {
            self.lost = true;
            each(Chunk::Cut);
        }
    }

    fn catch_up(&mut self, each: &mut impl FnMut(Chunk<'_>)) {
        while let Some(at) = self.early.iter().position(|(seq, _)| (self.next.wrapping_sub(*seq) as i32) >= 0)
        {
            let (seq, data) = self.early.swap_remove(at);
            self.follow(seq, &data, data.len(), each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[(u32, &[u8])], expected: &str) {
        let mut order = Reassembler::at(u32::MAX - 1);
        let mut found = String::new();
        for (at, part) in parts {
            order.take(u32::MAX.wrapping_sub(1).wrapping_add(*at), part, part.len(), |chunk| match chunk {
                Chunk::Next(bytes) => found.push_str(std::str::from_utf8(bytes).unwrap()),
                Chunk::Behind(bytes) => found.push_str(&format!("|{}", std::str::from_utf8(bytes).unwrap())),
                Chunk::Cut => found.push('-'),
            });
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn segments_come_out_in_order_and_once() {
        check(&[(0, b"ab"), (4, b"ef"), (0, b"ab"), (4, b"ef"), (1, b"bcd"), (6, b"g")], "abcdefg");
        check(&[(2, b"cd"), (4, b"ef"), (0, b"ab")], "abcdef");
    }

    #[test]
    fn a_gap_is_given_up_for_what_lies_far_behind_it() {
        check(&[(0, b"ab"), (90_000, b"xy"), (90_002, b"z")], "ab|xyz");
    }

    #[test]
    fn what_was_not_captured_is_reported() {
        let mut order = Reassembler::at(7);
        let mut found = Vec::new();
        order.take(7, b"abc", 10, |chunk| found.push(format!("{chunk:?}")));
        order.take(17, b"x", 1, |chunk| found.push(format!("{chunk:?}")));
        assert_eq!(found, ["Next([97, 98, 99])", "Cut", "Behind([120])"]);
    }

    #[test]
    fn little_is_held_however_much_is_early() {
        let mut order = Reassembler::at(0);
        for at in 1..9000_u32 {
            order.take(at * 3, &[7; 4096], 4096, |_| {});
        }
        assert!(order.buffered_bytes() <= MAX_EARLY_SEGMENTS * MAX_BUFFERED_BYTES);
    }
}
