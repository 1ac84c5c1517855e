//! Byte order.

/// In which order the bytes of a number are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The least first.
    Little,
    /// The greatest first.
    Big,
}

impl Order {
    /// Reads a number of two bytes.
    pub(super) fn half(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Reads a number of four bytes.
    pub(super) fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Reads a number of eight bytes.
    pub(super) fn double(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// Reads four bytes at a place.
    pub(super) fn word_at(self, bytes: &[u8], place: usize) -> Option<u32> {
        bytes.get(place..)?.first_chunk().map(|word| self.word(*word))
    }
}
