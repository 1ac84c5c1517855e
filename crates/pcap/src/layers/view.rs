//! A run of bytes of which perhaps only the beginning was captured.

/// Bytes from some layer on: what was captured, and how many there were according to the headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// What was captured.
    pub(crate) data: &'a [u8],
    /// How many there were.
    pub(crate) wire: usize,
}

impl<'a> View<'a> {
    /// Makes a view of captured bytes that had `wire` bytes.
    pub(crate) fn new(data: &'a [u8], wire: usize) -> Self {
        Self { data, wire: wire.max(data.len()) }
    }

    /// Returns what follows the first bytes.
    pub(crate) fn skip(self, count: usize) -> Self {
        Self { data: self.data.get(count..).unwrap_or_default(), wire: self.wire.saturating_sub(count) }
    }

    /// Ends the view where a header says that its content ends.
    pub(crate) fn limit(self, count: usize) -> Self {
        Self { data: self.data.get(..count).unwrap_or(self.data), wire: self.wire.min(count) }
    }

    /// Says whether the first bytes were captured.
    pub(crate) fn holds(self, count: usize) -> bool {
        self.data.len() >= count
    }

    /// Says whether everything was captured.
    pub(crate) fn whole(self) -> bool {
        self.data.len() >= self.wire
    }

    /// Returns a byte.
    pub(crate) fn u8(self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    /// Returns 16 bits in network order.
    pub(crate) fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(at)?))
    }

    /// Returns 32 bits in network order.
    pub(crate) fn u32(self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(at)?))
    }

    /// Returns an array of bytes.
    pub(crate) fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..)?.first_chunk().copied()
    }
}
