//! Something that happens again and again.

/// How many frames are kept as evidence.
const EVIDENCE: usize = 5;

/// How often something happened, and where first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    /// How often.
    pub(crate) count: u64,
    /// The first frames, in order.
    pub(crate) frames: Vec<u64>,
}

impl Times {
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
            && place < EVIDENCE
        {
            self.frames.insert(place, frame);
            self.frames.truncate(EVIDENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frames_are_kept_whenever_they_are_told() {
        let mut times = Times::default();
        for frame in [9, 3, 8, 8, 1, 7, 2, 30] {
            times.add(frame);
        }
        times.more(0, 1);
        assert_eq!((times.count, times.frames.as_slice()), (8, &[1, 2, 3, 7, 8][..]));
    }
}
