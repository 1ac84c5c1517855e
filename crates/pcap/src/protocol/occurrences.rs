//! A count of occurrences with their first frames.

/// Maximum number of evidence frames.
const MAX_EVIDENCE_FRAMES: usize = 5;

/// How often something happened, and where first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occurrences {
    /// How often.
    pub(crate) count: u64,
    /// The first frames, in order.
    pub(crate) frames: Vec<u64>,
}

impl Occurrences {
    /// Notes one more.
    pub(super) fn add(&mut self, frame: u64) {
        self.more(1, frame);
    }

    /// Notes several at once. Connections that are judged late may tell of early frames.
    pub(super) fn more(&mut self, count: u64, frame: u64) {
        if count == 0 {
            return;
        }
        self.count += count;
        if let Err(place) = self.frames.binary_search(&frame)
            && place < MAX_EVIDENCE_FRAMES
        {
            self.frames.insert(place, frame);
            self.frames.truncate(MAX_EVIDENCE_FRAMES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frames_are_kept_whenever_they_are_reported() {
        let mut times = Occurrences::default();
        for frame in [9, 3, 8, 8, 1, 7, 2, 30] {
            times.add(frame);
        }
        times.more(0, 1);
        assert_eq!((times.count, times.frames.as_slice()), (8, &[1, 2, 3, 7, 8][..]));
    }
}
