//! The rule that every record follows from the one before it: fed line by line, it says where the file is bad.

use std::io::{self, BufRead, Read as _};

use crate::audit::line::{self, FORMAT, Line, Link, MAX_LINE_BYTES, REPAIRED};
use ghost_base::{Digest, SessionId};

/// The most bytes that a repair may account for: two lines of the longest kind.
const MAX_TORN_BYTES: usize = 2 * MAX_LINE_BYTES;

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// It is JSON, so no crash cut it short, yet it has not the shape of a record.
    #[error("the line is no audit record")]
    Foreign,
    /// Its bytes were changed.
    #[error("its bytes do not match its hash")]
    Altered,
    /// It was written by another format.
    #[error("its format is {found}, and only {FORMAT} is known")]
    Format {
        /// The format that it states.
        found: u64,
    },
    /// It comes from another session's file.
    #[error("it belongs to another session")]
    Session,
    /// Records are missing, doubled or out of order.
    #[error("it has the number {found} where {expected} is due")]
    Sequence {
        /// The number that should stand there.
        expected: u64,
        /// The number that it states.
        found: u64,
    },
    /// The record before it is another one than when it was written.
    #[error("it does not follow from the record before it")]
    Previous,
    /// Bytes that are no record stand before it, or at the end, and no repair accounts for them.
    #[error("bytes that are no record stand here, and no repair accounts for them")]
    Unrepaired,
    /// A repair states other bytes than those before it.
    #[error("it accounts for other torn bytes than those before it")]
    Repair,
    /// A line, or a run of torn ones, is longer than anything that is ever written.
    #[error("a line is longer than any that is ever written")]
    TooLong,
}

/// A place behind a good record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChainPosition {
    /// How many records stand before it.
    pub(super) records: u64,
    /// The hash of the last of them.
    pub(super) head: Digest,
    /// Where it lies in the file, in bytes; behind the newline.
    pub(super) offset: u64,
}

/// What was read so far. It holds two places and the torn bytes, never the records.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    session: Option<SessionId>,
    last: ChainPosition,
    before: ChainPosition,
    torn: Vec<u8>,
    /// The last record is whole but for its newline.
    open: bool,
    /// The next record says itself where it stands: those before it were not read.
    joins: bool,
}

/// What one more line did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineEffect {
    /// It was a good record.
    Record,
    /// It was no record; a repair must follow.
    Torn,
    /// It does not belong there.
    Broken(Broken),
    /// There was none.
    End,
}

impl Chain {
    /// Starts the chain of a known session.
    pub(super) fn of(session: &SessionId) -> Self {
        let mut chain = Self::unknown();
        chain.begin(session.clone());
        chain
    }

    /// Joins the chain of a known session at a line in the middle of the file.
    pub(super) fn joining(session: &SessionId, offset: u64) -> Self {
        let mut chain = Self::of(session);
        chain.last.offset = offset;
        chain.before = chain.last;
        chain.joins = true;
        chain
    }

    /// Starts a chain whose first record says which session it is.
    pub(super) fn unknown() -> Self {
        let nowhere = ChainPosition { records: 0, head: Digest::of(""), offset: 0 };
        Self { session: None, last: nowhere, before: nowhere, torn: Vec::new(), open: false, joins: false }
    }

    fn begin(&mut self, session: SessionId) {
        self.last.head = Digest::of(session.as_str());
        self.before = self.last;
        self.session = Some(session);
    }

    /// Returns the place behind the last good record.
    pub(super) fn last(&self) -> ChainPosition {
        self.last
    }

    /// Returns the place before the last good record.
    pub(super) fn before(&self) -> ChainPosition {
        self.before
    }

    /// Returns the bytes behind the last good record that are none.
    pub(super) fn torn(&self) -> &[u8] {
        &self.torn
    }

    /// Goes back behind the record before the last, to read the last one again.
    pub(super) fn rewind(&mut self) {
        self.last = self.before;
        self.torn.clear();
        self.open = false;
    }

    /// Ends the last line where a crash left it without its newline; returns the bytes to write for that.
    pub(super) fn close(&mut self) -> &'static [u8] {
        if self.open {
            self.open = false;
            self.last.offset += 1;
            return b"\n";
        }
        if self.torn.last().is_some_and(|byte| *byte != b'\n') {
            self.torn.push(b'\n');
            return b"\n";
        }
        b""
    }

    /// Reads one more line from `reader`.
    pub(super) fn step(&mut self, reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineEffect> {
        line.clear();
        let limit = u64::try_from(MAX_LINE_BYTES + 2).unwrap_or(u64::MAX);
        reader.by_ref().take(limit).read_until(b'\n', line)?;
        if line.is_empty() {
            return Ok(LineEffect::End);
        }
        Ok(self.take(line).unwrap_or_else(LineEffect::Broken))
    }

    /// Takes one line, with its newline unless it is the last and lacks it.
    pub(super) fn take(&mut self, raw: &[u8]) -> Result<LineEffect, Broken> {
        let text = raw.strip_suffix(b"\n").unwrap_or(raw);
        if text.len() > MAX_LINE_BYTES {
            return Err(Broken::TooLong);
        }
        let (link, hash) = match line::read(text) {
            Line::Record(link, hash) => (link, hash),
            Line::Altered => return Err(Broken::Altered),
            Line::Foreign => return Err(Broken::Foreign),
            Line::Unreadable => return self.tear(raw),
        };
        self.check(&link)?;
        self.before = self.last;
        self.last.records += 1;
        self.last.head = hash;
        self.last.offset += (self.torn.len() + raw.len()) as u64;
        self.torn.clear();
        self.open = raw.len() == text.len();
        Ok(LineEffect::Record)
    }

    fn tear(&mut self, raw: &[u8]) -> Result<LineEffect, Broken> {
        if self.torn.len() + raw.len() > MAX_TORN_BYTES {
            return Err(Broken::TooLong);
        }
        self.torn.extend_from_slice(raw);
        Ok(LineEffect::Torn)
    }

    fn check(&mut self, link: &Link<'_>) -> Result<(), Broken> {
        if link.format != FORMAT {
            return Err(Broken::Format { found: link.format });
        }
        match &self.session {
            Some(session) if session.as_str() != link.session => return Err(Broken::Session),
            Some(_) => {}
            None => {
                let session = link.session.parse().map_err(|_| Broken::Foreign)?;
                self.begin(session);
            }
        }
        if self.joins {
            self.last.records = link.seq.checked_sub(1).ok_or(Broken::Foreign)?;
            self.last.head = link.prev.parse().map_err(|_| Broken::Foreign)?;
            self.joins = false;
        }
        let expected = self.last.records + 1;
        if link.seq != expected {
            return Err(Broken::Sequence { expected, found: link.seq });
        }
        if link.prev != self.last.head.to_string() {
            return Err(Broken::Previous);
        }
        match (&link.torn, self.torn.is_empty()) {
            (_, false) if link.kind != REPAIRED => Err(Broken::Unrepaired),
            (Some(torn), false)
                if torn.bytes == self.torn.len() as u64
                    && torn.sha256 == Digest::of(&self.torn).to_string() =>
            {
                Ok(())
            }
            (None, true) if link.kind != REPAIRED => Ok(()),
            (Some(_) | None, true | false) => Err(Broken::Repair),
        }
    }
}
