//! Reading an export in bounded memory. What was read is not verified yet.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

use serde::Deserialize;

use crate::export::write::{ContentLine, FORMAT};
use crate::export::{Export, Header};

const MAX_LINE_BYTES: u64 = 2_000_000;
const MAX_EXPORT_BYTES: u64 = 512_000_000;
const MAX_LINES: u64 = 2_000_000;

/// Why a text is no export.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("the export cannot be read")]
    Io(#[from] io::Error),
    #[error("it is empty")]
    Empty,
    /// A later version wrote it.
    #[error(
        "it has export format {found}, this program reads formats up to {FORMAT}; use the version that wrote it"
    )]
    Newer {
        /// Its format.
        found: u64,
    },
    /// A line is not what it has to be.
    #[error("line {line}: {what}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// It is longer than any session.
    #[error("it is larger than {MAX_EXPORT_BYTES} bytes or has more than {MAX_LINES} lines")]
    TooLarge,
    /// Lines are missing at its end.
    #[error("it is cut off: {found} of {said} lines are there")]
    CutOff {
        /// How many lines there are.
        found: u64,
        /// How many there should be.
        said: u64,
    },
}

#[derive(Deserialize)]
struct Format {
    export: u64,
}

/// Reads an export.
///
/// # Errors
/// Fails where it is cut off, larger than any session, of a later format, or none at all.
pub fn read(reader: impl BufRead) -> Result<Export, ReadError> {
    let mut lines = Lines { reader, line: 0, bytes: 0 };
    let first = lines.next()?.ok_or(ReadError::Empty)?;
    let wrong = |error: serde_json::Error| ReadError::Line { line: 1, what: format!("no header: {error}") };
    let found = serde_json::from_str::<Format>(&first).map_err(wrong)?.export;
    if found > u64::from(FORMAT) {
        return Err(ReadError::Newer { found });
    }
    let header: Header = serde_json::from_str(&first).map_err(wrong)?;
    if header.export == 0 || header.events == 0 {
        return Err(ReadError::Line {
            line: 1,
            what: "no header: it speaks of no format or no event".to_owned(),
        });
    }
    let said = [header.events, header.evidence, header.audit]
        .into_iter()
        .try_fold(1_u64, u64::checked_add)
        .filter(|said| *said <= MAX_LINES)
        .ok_or(ReadError::TooLarge)?;
    let cut_off = |line: u64| ReadError::CutOff { found: line, said };
    let mut ledger = Vec::new();
    for _ in 0..header.events {
        ledger.push(lines.next()?.ok_or_else(|| cut_off(lines.line))?);
    }
    let mut evidence: BTreeMap<_, String> = BTreeMap::new();
    for _ in 0..header.evidence {
        let content = lines.content()?.ok_or_else(|| cut_off(lines.line))?;
        let (Some(digest), Some(text)) = (content.evidence.and_then(|name| name.parse().ok()), content.text)
        else {
            return Err(lines.wrong("no evidence under its digest"));
        };
        evidence.entry(digest).or_default().push_str(&text);
    }
    let mut audit: Option<Vec<u8>> = None;
    for _ in 0..header.audit {
        let content = lines.content()?.ok_or_else(|| cut_off(lines.line))?;
        let bytes = match (content.audit, content.audit_hex.as_deref().map(from_hex)) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(Some(bytes))) => bytes,
            _ => return Err(lines.wrong("no line of an audit")),
        };
        let audit = audit.get_or_insert_default();
        audit.extend(bytes);
        if !content.more {
            audit.push(b'\n');
        }
    }
    if lines.next()?.is_some() {
        return Err(lines.wrong("there are more lines than the header says"));
    }
    let Header { session, version, head, .. } = header;
    Ok(Export { session, version, head, ledger, evidence, audit })
}

struct Lines<R> {
    reader: R,
    line: u64,
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<String>, ReadError> {
        let mut line = Vec::new();
        let read = self.reader.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.bytes = self.bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if self.bytes > MAX_EXPORT_BYTES {
            return Err(ReadError::TooLarge);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if u64::try_from(line.len()).is_ok_and(|length| length > MAX_LINE_BYTES) {
            return Err(self.wrong(&format!("it is longer than {MAX_LINE_BYTES} bytes")));
        }
        String::from_utf8(line).map(Some).map_err(|_| self.wrong("it is no text in UTF-8"))
    }

    fn content(&mut self) -> Result<Option<ContentLine>, ReadError> {
        let Some(line) = self.next()? else { return Ok(None) };
        serde_json::from_str(&line).map(Some).map_err(|error| self.wrong(&error.to_string()))
    }

    fn wrong(&self, what: &str) -> ReadError {
        ReadError::Line { line: self.line, what: what.to_owned() }
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
