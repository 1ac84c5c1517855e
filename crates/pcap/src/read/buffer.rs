//! The bytes that were read and not yet used.

/// Small enough for a small capture.
const FIRST: usize = 64 * 1024;
/// Large enough that reading costs little, small enough to stay in the cache.
const USUAL: usize = 512 * 1024;

/// A window that moves over a file. It grows with the record that has to fit, and never beyond what its owner asks for.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Where the window begins in the file.
    offset: u64,
    /// The last read filled all the room there was: more is waiting.
    busy: bool,
}

impl Buffer {
    /// Returns what is there.
    pub(super) fn held(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns where in the file that begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Forgets bytes at the beginning.
    pub(super) fn skip(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Returns room for further bytes, never none.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let held = self.end - self.start;
        let wanted = if self.busy { USUAL } else { FIRST }.max(held * 2).max(self.bytes.len());
        if self.bytes.len() - self.end < wanted / 2 && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = held;
        }
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// Takes over bytes that were put into the room.
    pub(super) fn filled(&mut self, count: usize) {
        let room = self.bytes.len() - self.end;
        self.busy = count >= room;
        self.end += count.min(room);
    }
}
