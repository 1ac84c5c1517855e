//! One line of the file: how a record is sealed by its hash, and how it is read back.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use ghost_base::Digest;

/// The format of the records that this program writes and reads.
pub const FORMAT: u64 = 1;

/// The longest line that is written or read, in bytes, without its newline.
pub const MAX_LINE_BYTES: usize = 4 << 20;

const HASH_KEY: &[u8] = br#","hash":""#;
const HASH_LENGTH: usize = 64;
const CLOSE: &[u8] = br#""}"#;

/// The kind of the record that accounts for torn bytes. No entry can bear it.
pub(super) const REPAIRED: &str = "repaired";

/// A record before it is sealed: its place in the chain, then what it says.
#[derive(Serialize)]
pub(super) struct Record<'a, B> {
    pub(super) format: u64,
    pub(super) session: &'a str,
    pub(super) seq: u64,
    pub(super) at: String,
    pub(super) prev: String,
    pub(super) audit_id: String,
    #[serde(flatten)]
    pub(super) body: &'a B,
}

/// What a `repaired` record says.
#[derive(Serialize)]
pub(super) struct Repair {
    pub(super) kind: &'static str,
    pub(super) torn: Torn<'static>,
}

/// The bytes that a `repaired` record accounts for.
#[derive(Serialize, Deserialize)]
pub(super) struct Torn<'a> {
    pub(super) bytes: u64,
    #[serde(borrow)]
    pub(super) sha256: Cow<'a, str>,
}

/// The part of a record by which it hangs in the chain.
#[derive(Deserialize)]
pub(super) struct Link<'a> {
    pub(super) format: u64,
    #[serde(borrow)]
    pub(super) session: Cow<'a, str>,
    pub(super) seq: u64,
    #[serde(borrow)]
    pub(super) prev: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) torn: Option<Torn<'a>>,
}

/// What a line turned out to be.
pub(super) enum Line<'a> {
    /// A record whose hash is right, and that hash.
    Record(Box<Link<'a>>, Digest),
    /// A record whose hash is wrong.
    Altered,
    /// JSON, but no record.
    Foreign,
    /// No JSON: a line cut short, or noise. A proper beginning of a record is always this.
    Unreadable,
}

/// Writes a record as its line, without the newline.
pub(super) fn seal<B: Serialize>(record: &Record<'_, B>) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.pop();
    let hash = Digest::of(&line).to_string();
    line.extend_from_slice(HASH_KEY);
    line.extend_from_slice(hash.as_bytes());
    line.extend_from_slice(CLOSE);
    Ok(line)
}

/// Reads a line back, given without its newline.
pub(super) fn read(line: &[u8]) -> Line<'_> {
    let Ok(link) = serde_json::from_slice::<Link<'_>>(line) else {
        let json = serde_json::from_slice::<IgnoredAny>(line).is_ok();
        return if json { Line::Foreign } else { Line::Unreadable };
    };
    let Some((body, stated)) = split(line) else { return Line::Foreign };
    let hash = Digest::of(body);
    if hash.to_string().as_bytes() == stated { Line::Record(Box::new(link), hash) } else { Line::Altered }
}

/// Takes a line apart into the bytes that are hashed and the hash that is stated, by length alone: a nested `hash` key
/// cannot mislead it.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_suffix(CLOSE)?;
    let (rest, stated) = rest.split_at_checked(rest.len().checked_sub(HASH_LENGTH)?)?;
    Some((rest.strip_suffix(HASH_KEY)?, stated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealed(body: &serde_json::Value) -> Vec<u8> {
        seal(&Record {
            format: FORMAT,
            session: "s",
            seq: 1,
            at: "t".into(),
            prev: "p".into(),
            audit_id: "s-0001".into(),
            body,
        })
        .unwrap()
    }

    #[test]
    fn a_line_is_one_object_whose_last_key_is_the_hash_of_what_precedes_it() {
        let line = sealed(&json!({"kind": "done", "command": "a\nb\u{2028}"}));
        let (body, hash) = split(&line).unwrap();
        assert_eq!(Digest::of(body).to_string().as_bytes(), hash);
        assert!(!line.contains(&b'\n'));
        assert!(serde_json::from_slice::<serde_json::Value>(&line).unwrap().is_object());
    }

    #[test]
    fn a_hash_key_inside_the_record_does_not_mislead_the_reader() {
        let nested =
            json!({"kind": "done", "command": r#"","hash":"00"}"#, "x": {"a": 1, "hash": "0".repeat(64)}});
        assert!(matches!(read(&sealed(&nested)), Line::Record(..)));
    }

    #[test]
    fn every_beginning_of_a_record_is_unreadable_and_never_a_record() {
        let line = sealed(&json!({"kind": "done", "command": "é {\"a\":[1,2]}"}));
        for end in 0..line.len() {
            assert!(matches!(read(&line[..end]), Line::Unreadable), "{end}");
        }
    }

    #[test]
    fn json_that_is_no_record_is_reported_from_noise() {
        for text in ["{}", "null", r#"{"format":1,"session":"s","seq":1,"prev":"","kind":"done"}"#] {
            assert!(matches!(read(text.as_bytes()), Line::Foreign), "{text}");
        }
        assert!(matches!(read(b"\0\0\0"), Line::Unreadable));
    }
}
