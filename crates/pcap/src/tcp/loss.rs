//! Where segments were lost: before the capture point, after it, or only in the capture.

use super::sender::{after, at_most, before};

/// How many gaps are followed at a time.
const MAX_GAPS: usize = 8;
/// No window is larger: an acknowledgment that leaps further belongs to something else.
const MAX_ACK_LEAP: u32 = 1 << 26;
/// How many blocks of an acknowledgment are remembered.
const MAX_SACK_BLOCKS: usize = 3;

/// What became of one direction's segments. Counts are of segments, or of gaps where segments were never seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Losses {
    /// Gaps that a repetition filled: lost before they came here.
    pub(crate) before: u32,
    /// Sent again though the first copy passed here: lost behind this point, or their acknowledgment was.
    pub(crate) after: u32,
    /// Acknowledged, and never seen: the capture missed them.
    pub(crate) missed: u32,
    /// How many bytes those had.
    pub(crate) missed_bytes: u64,
    /// Sent again though the receiver had them, as it said before or afterwards.
    pub(crate) needless: u32,
    /// Late, and not lost.
    pub(crate) late: u32,
    gaps: [(u32, u32); MAX_GAPS],
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    /// Needless ones that the receiver will report once more.
    expected: u32,
    /// Up to where what was never seen is counted.
    counted: u32,
}

impl Losses {
    /// Bytes are missing before a segment; `acked` is what the other end has.
    pub(super) fn gap(&mut self, start: u32, end: u32, acked: u32) {
        if acked != 0 && at_most(end, acked) {
            return;
        }
        if let Some(free) = self.gaps.iter_mut().find(|(start, end)| start == end) {
            *free = (start, end);
        }
    }

    /// Takes a segment that lies behind others. Says whether something was really lost.
    pub(super) fn behind(&mut self, (seq, end): (u32, u32), acknowledged: bool, late: bool) -> bool {
        if self.fill(seq, end) {
            if late {
                self.late = self.late.saturating_add(1);
            } else {
                self.before = self.before.saturating_add(1);
            }
            return !late;
        }
        let held = |block: &(u32, u32)| block.0 != block.1 && at_most(block.0, seq) && at_most(end, block.1);
        if acknowledged || self.blocks.iter().any(held) {
            self.needless = self.needless.saturating_add(1);
            self.expected = self.expected.saturating_add(1);
            return false;
        }
        self.after = self.after.saturating_add(1);
        true
    }

    /// Takes what the receiver acknowledges; `high` is the end of what was seen.
    pub(super) fn acknowledge(&mut self, ack: u32, high: u32) {
        for (start, end) in &mut self.gaps {
            if start != end && before(*start, ack) {
                let upto = if at_most(*end, ack) { *end } else { ack };
                self.missed = self.missed.saturating_add(1);
                self.missed_bytes += u64::from(upto.wrapping_sub(*start));
                *start = upto;
            }
        }
        let leap = ack.wrapping_sub(high);
        if high != 0
            && after(ack, high)
            && leap <= MAX_ACK_LEAP
            && (self.counted == 0 || after(ack, self.counted))
        {
            let from = if self.counted != 0 && after(self.counted, high) { self.counted } else { high };
            self.missed = self.missed.saturating_add(1);
            self.missed_bytes += u64::from(ack.wrapping_sub(from));
            self.counted = ack;
        }
    }

    /// Takes the blocks that the receiver holds beyond its acknowledgment, and its report of what came twice.
    pub(super) fn sack(&mut self, mut option: &[u8], ack: u32) {
        let mut found = [(0, 0); MAX_SACK_BLOCKS];
        let mut free = found.iter_mut();
        let mut first = true;
        while let Some((block, rest)) = option.split_first_chunk::<8>() {
            let [a, b, c, d, e, f, g, h] = *block;
            let (start, end) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
            if first && at_most(end, ack) {
                self.twice();
            } else if let Some(free) = free.next() {
                *free = (start, end);
            }
            first = false;
            option = rest;
        }
        self.blocks = found;
    }

    fn twice(&mut self) {
        if self.expected > 0 {
            self.expected -= 1;
        } else if self.after > 0 {
            self.after -= 1;
            self.needless = self.needless.saturating_add(1);
        }
    }

    /// Takes bytes out of the gap that they lie in; says whether there was one.
    fn fill(&mut self, seq: u32, end: u32) -> bool {
        let inside = |gap: &&mut (u32, u32)| gap.0 != gap.1 && before(seq, gap.1) && after(end, gap.0);
        let Some(gap) = self.gaps.iter_mut().find(inside) else {
            return false;
        };
        let (start, stop) = *gap;
        if !after(seq, start) {
            gap.0 = if at_most(stop, end) { stop } else { end };
            return true;
        }
        gap.1 = seq;
        if before(end, stop)
            && let Some(free) = self.gaps.iter_mut().find(|(start, end)| start == end)
        {
            *free = (end, stop);
        }
        true
    }

    /// Returns how many bytes never came, and are waited for.
    pub(crate) fn open(&self) -> u64 {
        self.gaps.iter().map(|(start, end)| u64::from(end.wrapping_sub(*start))).sum()
    }
}
