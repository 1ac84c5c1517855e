//! One packet record, the format of its file, and byte order.

/// A packet as a capture holds it. The bytes are borrowed from the reader.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Its number as other readers count, from 1.
    pub number: u64,
    /// When it was captured, in nanoseconds since 1970.
    pub time: u64,
    /// Which of the file's interfaces captured it, counted from 0 over all sections.
    pub interface: u32,
    /// The link type of its interface.
    pub link: u16,
    /// How many bytes it had on the wire.
    pub wire: usize,
    /// What was captured of them.
    pub data: &'a [u8],
}

/// The kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Classic, microseconds.
    Pcap,
    /// Classic, nanoseconds.
    PcapNs,
    /// Blocks, any number of interfaces.
    Pcapng,
}

impl Format {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNs => "pcap-ns",
            Self::Pcapng => "pcapng",
        }
    }
}

/// What is known of a file when its end is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSummary {
    /// The kind of file.
    pub format: Format,
    /// The link types of its interfaces, each once, in order of appearance.
    pub links: Vec<u16>,
    /// It ends within a record, or nothing can be read beyond some place.
    pub cut_off: bool,
    /// Bytes of damaged records that were passed over.
    pub skipped: u64,
    /// Packets that the capturing side says it dropped.
    pub dropped: u64,
    /// What was odd.
    pub warnings: Vec<String>,
}

impl ReadSummary {
    /// Returns an end with nothing odd about it, for frames that come from elsewhere than a file.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, links: Vec::new(), cut_off: false, skipped: 0, dropped: 0, warnings: Vec::new() }
    }
}

/// In which order the bytes of a number are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    /// The least first.
    Little,
    /// The greatest first.
    Big,
}

impl ByteOrder {
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
