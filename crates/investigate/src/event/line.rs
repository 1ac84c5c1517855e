//! Lines, and the chain that binds them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::event::{Event, text};
use ghost_base::{Digest, SessionId, Timestamp};

/// The format that this program writes, and the latest that it reads.
pub const FORMAT: u32 = 1;

/// One event with its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its number, from 1.
    pub seq: u64,
    pub at: Timestamp,
    pub kind: String,
    pub hash: Digest,
    pub content: Content,
}

/// What a line holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Known(Box<Event>),
    /// An event of a kind that a later version made up.
    Foreign,
    /// Nothing any more.
    Erased,
}

/// Why lines are no ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be read at all.
    #[error("event {seq} cannot be read: {what}")]
    Unreadable { seq: u64, what: String },
    /// It was written in a format of the future.
    #[error(
        "event {seq} has format {found}, this program reads formats up to {FORMAT}; use the version that wrote it"
    )]
    Newer { seq: u64, found: u32 },
    /// It is not what was written.
    #[error("event {seq} was changed: {what}")]
    Changed {
        seq: u64,
        /// What does not fit.
        what: &'static str,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    format: u32,
    #[serde(with = "text")]
    session: SessionId,
    seq: u64,
    #[serde(with = "text")]
    at: Timestamp,
    kind: String,
    #[serde(with = "text")]
    prev: Digest,
    #[serde(with = "text")]
    digest: Digest,
    #[serde(with = "text")]
    hash: Digest,
    body: Box<RawValue>,
}

impl Line {
    fn expected(&self) -> Digest {
        let (session, seq, at) = (self.session.as_str(), self.seq.to_string(), self.at.to_string());
        let (prev, digest) = (self.prev.to_string(), self.digest.to_string());
        Digest::of_fields([session, &seq, &at, &self.kind, &prev, &digest])
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct Parts {
    kind: String,
    body: Box<RawValue>,
}

/// The end of a chain, to which lines are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    session: SessionId,
    length: u64,
    head: Digest,
}

impl Chain {
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        let head = Digest::of(session.as_str());
        Self { session, length: 0, head }
    }

    /// Goes on behind what was read.
    #[must_use]
    pub fn behind(session: SessionId, recorded: &[Recorded]) -> Self {
        match recorded.last() {
            Some(last) => Self { session, length: last.seq, head: last.hash },
            None => Self::new(session),
        }
    }

    /// Returns how many lines there are.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the hash of the last line.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Adds an event: its line, and what will be read from it.
    ///
    /// # Errors
    /// Fails where the event cannot be written as JSON.
    pub fn seal(&mut self, at: Timestamp, event: &Event) -> Result<(String, Recorded), serde_json::Error> {
        let parts: Parts = serde_json::from_str(&serde_json::to_string(event)?)?;
        let mut line = Line {
            format: FORMAT,
            session: self.session.clone(),
            seq: self.length + 1,
            at,
            kind: parts.kind,
            prev: self.head,
            digest: Digest::of(parts.body.get()),
            hash: self.head,
            body: parts.body,
        };
        line.hash = line.expected();
        let text = serde_json::to_string(&line)?;
        (self.length, self.head) = (line.seq, line.hash);
        let content = Content::Known(Box::new(event.clone()));
        Ok((text, Recorded { seq: line.seq, at, kind: line.kind, hash: line.hash, content }))
    }
}

/// Reads the lines of a session from the first on, and checks their chain.
///
/// # Errors
/// Fails at the first line that is none, that a later format wrote or that was changed.
pub fn read<'a>(
    session: &SessionId,
    lines: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Recorded>, LedgerError> {
    let mut recorded: Vec<Recorded> = Vec::new();
    let mut prev = Digest::of(session.as_str());
    for (line, seq) in lines.into_iter().zip(1_u64..) {
        let unreadable = |error: serde_json::Error| LedgerError::Unreadable { seq, what: error.to_string() };
        let found = serde_json::from_str::<Format>(line).map_err(unreadable)?.format;
        if found > FORMAT {
            return Err(LedgerError::Newer { seq, found });
        }
        let line: Line = serde_json::from_str(line).map_err(unreadable)?;
        let erased = line.body.get() == "null";
        let checks = [
            (line.format >= 1, "its format is none"),
            (line.session == *session, "it belongs to another session"),
            (line.seq == seq, "its number is wrong"),
            (line.prev == prev, "it does not follow the one before"),
            (line.hash == line.expected(), "its hash does not fit"),
            (erased || line.digest == Digest::of(line.body.get()), "its body does not fit"),
        ];
        if let Some((_, what)) = checks.into_iter().find(|(holds, _)| !holds) {
            return Err(LedgerError::Changed { seq, what });
        }
        prev = line.hash;
        let content = if erased { Content::Erased } else { content(&line).map_err(unreadable)? };
        recorded.push(Recorded { seq, at: line.at, kind: line.kind, hash: line.hash, content });
    }
    Ok(recorded)
}

fn content(line: &Line) -> Result<Content, serde_json::Error> {
    if !Event::KINDS.contains(&line.kind.as_str()) {
        return Ok(Content::Foreign);
    }
    let parts = Parts { kind: line.kind.clone(), body: line.body.clone() };
    serde_json::from_str(&serde_json::to_string(&parts)?).map(|event| Content::Known(Box::new(event)))
}

/// Takes the content out of lines and leaves the chain.
///
/// # Errors
/// Fails where a line is none.
pub fn erase<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, serde_json::Error> {
    lines
        .into_iter()
        .map(|line| {
            let line: Line = serde_json::from_str(line)?;
            serde_json::to_string(&Line { body: RawValue::from_string("null".to_owned())?, ..line })
        })
        .collect()
}
