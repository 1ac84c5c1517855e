//! What an export holds, and its lines.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use ghost_base::{Digest, SessionId};

/// The format that this program writes, and the latest that it reads.
pub(super) const FORMAT: u32 = 1;

/// A longer text is cut into chunks. Escaped, a chunk is at most six times as long.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format.
    pub export: u32,
    #[serde(with = "text")]
    pub session: SessionId,
    /// The version of the program that wrote the export.
    pub version: String,
    /// How many events there are.
    pub events: u64,
    /// The hash of the last one.
    #[serde(with = "text")]
    pub head: Digest,
    /// How many lines of evidence follow.
    #[serde(default)]
    pub evidence: u64,
    /// How many lines of the audit follow.
    #[serde(default)]
    pub audit: u64,
}

/// A session by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub session: SessionId,
    /// The version of the program that wrote it.
    pub version: String,
    /// The hash of the last event, as it was said.
    pub head: Digest,
    /// The lines of the ledger.
    pub ledger: Vec<String>,
    /// The texts behind observations.
    pub evidence: BTreeMap<Digest, String>,
    /// The bytes of the audit file.
    pub audit: Option<Vec<u8>>,
}

/// A line behind the ledger.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ContentLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) audit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) audit_hex: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) more: bool,
}

impl Export {
    /// Writes it.
    ///
    /// # Errors
    /// Fails where `out` does.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let evidence: Vec<ContentLine> =
            self.evidence.iter().flat_map(|(digest, text)| evidence_lines(digest, text)).collect();
        let audit = self.audit.as_deref().map(audit_lines).unwrap_or_default();
        let count = |lines: &[ContentLine]| u64::try_from(lines.len()).unwrap_or(u64::MAX);
        let header = Header {
            export: FORMAT,
            session: self.session.clone(),
            version: self.version.clone(),
            events: u64::try_from(self.ledger.len()).unwrap_or(u64::MAX),
            head: self.head,
            evidence: count(&evidence),
            audit: count(&audit),
        };
        writeln!(out, "{}", serde_json::to_string(&header)?)?;
        for line in &self.ledger {
            writeln!(out, "{line}")?;
        }
        for line in evidence.iter().chain(&audit) {
            writeln!(out, "{}", serde_json::to_string(line)?)?;
        }
        out.flush()
    }
}

fn evidence_lines(digest: &Digest, text: &str) -> Vec<ContentLine> {
    let line = |text: &str| ContentLine {
        evidence: Some(digest.to_string()),
        text: Some(text.to_owned()),
        ..ContentLine::default()
    };
    cut(text).into_iter().map(line).collect()
}

fn audit_lines(bytes: &[u8]) -> Vec<ContentLine> {
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (content, ended) = match line.strip_suffix(b"\n") {
            Some(content) => (content, true),
            None => (line, false),
        };
        match std::str::from_utf8(content) {
            Ok(text) => {
                let line = |text: &str| ContentLine {
                    audit: Some(text.to_owned()),
                    more: true,
                    ..ContentLine::default()
                };
                lines.extend(cut(text).into_iter().map(line));
            }
            Err(_) => lines.extend(content.chunks(MAX_TEXT_BYTES).map(|chunk| {
                let hex = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
                ContentLine { audit_hex: Some(hex), more: true, ..ContentLine::default() }
            })),
        }
        if let Some(last) = lines.last_mut() {
            last.more = !ended;
        }
    }
    lines
}

/// Cuts a text into chunks, at least one.
fn cut(text: &str) -> Vec<&str> {
    let (mut chunks, mut left) = (Vec::new(), text);
    while left.len() > MAX_TEXT_BYTES {
        let (chunk, rest) = left.split_at(left.floor_char_boundary(MAX_TEXT_BYTES));
        chunks.push(chunk);
        left = rest;
    }
    chunks.push(left);
    chunks
}

/// Values that are written as the text they print.
mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(input: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(input)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::read;

    fn back(export: &Export) -> Export {
        let mut text = Vec::new();
        export.write(&mut text).unwrap();
        assert!(text.split(|byte| *byte == b'\n').all(|line| line.len() <= 2_000_000));
        read(text.as_slice()).unwrap()
    }

    #[test]
    fn long_texts_and_torn_audits_come_back_byte_for_byte() {
        let long = "\u{1}ü".repeat(MAX_TEXT_BYTES);
        let audits: [&[u8]; 6] =
            [b"", b"\n", b"a\n\nb\n", b"a\ntorn", b"a\n\xff\xfe torn \xc3", b"\xff\n{\"x\":1}\n"];
        for audit in audits {
            let export = Export {
                session: "s1".parse().unwrap(),
                version: "0".to_owned(),
                head: Digest::of(""),
                ledger: vec!["{}".to_owned()],
                evidence: [long.as_str(), "short"].map(|text| (Digest::of(text), text.to_owned())).into(),
                audit: Some(audit.to_owned()).filter(|audit| !audit.is_empty()),
            };
            assert_eq!(back(&export), export);
        }
    }
}
