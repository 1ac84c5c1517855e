//! DNS over TCP: messages behind their lengths, in the order of the sequence numbers.

use crate::layers::View;

/// The longest part of a message that is kept; what is examined stands at its beginning.
const MAX_MESSAGE_BYTES: usize = 320;

/// One direction of a connection that carries DNS.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    /// Where the next byte belongs.
    next: Option<u32>,
    /// The first byte of a length.
    half: Option<u8>,
    /// How many bytes of a message are missing.
    missing: usize,
    kept: Vec<u8>,
}

impl Stream {
    /// Takes what a segment carries; passes each message that it completes to `each`.
    pub(crate) fn take(&mut self, seq: u32, payload: View<'_>, mut each: impl FnMut(View<'_>)) {
        if payload.wire == 0 {
            return;
        }
        if !payload.whole() {
            self.reset();
            if payload.holds(6) {
                each(payload.skip(2));
            }
            return;
        }
        if self.next != Some(seq) {
            self.reset();
        }
        self.next = Some(seq.wrapping_add(payload.data.len() as u32));
        let mut rest = payload.data;
        while let [first, after @ ..] = rest {
            if self.missing == 0 {
                rest = after;
                match self.half.take() {
                    None => self.half = Some(*first),
                    Some(high) => {
                        self.missing = usize::from(u16::from_be_bytes([high, *first]));
                        self.kept.clear();
                        if self.missing == 0 {
                            each(View::new(&[], 0));
                        }
                    }
                }
                continue;
            }
            let (part, after) = rest.split_at(self.missing.min(rest.len()));
            rest = after;
            self.missing -= part.len();
            let room = MAX_MESSAGE_BYTES - self.kept.len();
            self.kept.extend_from_slice(part.get(..room).unwrap_or(part));
            if self.missing == 0 {
                each(View::new(&self.kept, self.kept.len()));
            }
        }
    }

    fn reset(&mut self) {
        self.next = None;
        self.half = None;
        self.missing = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[(u32, &[u8])], expected: &[usize]) {
        let mut stream = Stream::default();
        let mut found = Vec::new();
        for (place, (seq, part)) in parts.iter().enumerate() {
            stream.take(*seq, View::new(part, part.len()), |_| found.push(place));
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_message_counts_where_it_becomes_complete() {
        check(&[(100, b"\x00"), (101, b"\x05ab"), (104, b"cde\x00\x01x\x00")], &[2, 2]);
    }

    #[test]
    fn behind_a_gap_a_length_is_expected() {
        check(&[(100, b"\x00\x05ab"), (200, b"\x00\x02xy")], &[1]);
    }

    #[test]
    fn a_long_message_is_not_kept_whole() {
        let mut stream = Stream::default();
        let long = [0xff_u8; 2];
        stream.take(0, View::new(&long, 2), |_| panic!("not complete"));
        for part in 0..65_u32 {
            stream.take(2 + part * 1000, View::new(&[0; 1000], 1000), |_| panic!("not complete"));
        }
        assert!(stream.kept.capacity() <= 1024);
    }
}
