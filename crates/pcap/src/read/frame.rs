//! One packet record, and what kind of file it came from.

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
pub struct Ending {
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

impl Ending {
    /// Returns an end with nothing odd about it, for frames that come from elsewhere than a file.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, links: Vec::new(), cut_off: false, skipped: 0, dropped: 0, warnings: Vec::new() }
    }
}
