//! Segments that are too large for the path: they are sent again in vain while smaller ones pass.

/// Smaller segments pass every path.
const LARGE: u32 = 1000;

/// Large segments of one direction that nobody acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Large {
    /// How often such were sent again.
    pub(crate) times: u32,
    /// The smallest of them.
    pub(crate) size: u32,
    /// The first repetition.
    pub(crate) frame: u64,
    /// How many bytes of them the sender tried last, where that is less: it noticed.
    pub(crate) cut_to: u32,
    /// The other end said something meanwhile.
    pub(crate) alive: bool,
}

impl Large {
    /// Takes a repetition; `passed` is the largest segment that was acknowledged.
    pub(super) fn again(&mut self, len: u32, passed: u32, frame: u64) {
        if len < LARGE || len <= passed {
            if self.times > 0 && len > 0 {
                self.cut_to = len;
            }
            return;
        }
        if self.times == 0 {
            *self = Self { size: len, frame, ..Self::default() };
        }
        self.size = self.size.min(len);
        self.times = self.times.saturating_add(1);
    }

    /// The other end said something.
    pub(super) fn hear(&mut self, passed: u32) {
        if self.times > 0 && passed >= self.size {
            *self = Self::default();
        }
        self.alive |= self.times > 0;
    }
}
