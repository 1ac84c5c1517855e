//! The journal: what people did to the bot as a whole, and what they said of its reports.
//!
//! It lies in the store, so that all replicas share it, and it is chained as the audit of a session is: a line's `hash` is the
//! SHA-256 of its own bytes before `,"hash":"`, and `prev` is the hash of the line before; the first has the SHA-256 of
//! `journal`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use ghost_base::{Clock, Digest, Timestamp};
use ghost_store::{Store, StoreError};

/// The format of the lines.
const FORMAT: u32 = 1;
/// How often a line is written anew, because another replica was faster.
const MAX_APPEND_ATTEMPTS: usize = 50;
/// Among so many lines it is looked whether somebody said the same before.
const MAX_COMPARED_NOTES: usize = 1_000;
/// For so many milliseconds the same attempt in vain counts as one.
const SAME_TRY: i64 = 3_600_000;
/// A reason that is longer is cut.
const MAX_TEXT_BYTES: usize = 2_000;
/// What the first line follows.
const BEGINNING: &str = "journal";

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalAction {
    /// They held every command back.
    Freeze,
    /// They let commands begin again.
    Thaw,
    /// They said that a report helped.
    Helped,
    /// They said that a report did not help.
    NotHelped,
    /// They wanted to decide something that is not theirs to decide.
    Refused,
    /// An alert came in a maintenance window, and opened nothing.
    Maintenance,
}

impl JournalAction {
    /// Tells whether it is an opinion: whoever says the same once more said it once.
    fn is_opinion(self) -> bool {
        matches!(self, Self::Helped | Self::NotHelped)
    }

    /// Tells whether everybody can do it as often as they like: then the same is not written down again and again.
    fn is_cheap(self) -> bool {
        self.is_opinion() || matches!(self, Self::Refused | Self::Maintenance)
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The format of the line.
    pub format: u32,
    /// Its number, from 1.
    pub seq: u64,
    /// When, RFC 3339.
    pub at: String,
    /// The hash of the line before.
    pub prev: String,
    pub what: JournalAction,
    /// Who, by the id.
    pub who: String,
    /// From where: a channel, or `home`.
    pub place: String,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The session that it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
}

/// What is to be noted.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub what: JournalAction,
    pub who: &'a str,
    /// From where.
    pub place: &'a str,
    pub why: &'a str,
    /// The session that it is about; empty where it is about all.
    pub session: &'a str,
}

/// Why a journal is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {seq} of the journal {what}")]
pub struct Tampered {
    /// The first line that is wrong.
    pub seq: u64,
    /// What is wrong with it.
    pub what: &'static str,
}

/// Writes a line behind all others.
///
/// # Errors
/// Fails where the store does not take it; then it is not there.
pub async fn note(store: &Arc<dyn Store>, clock: &dyn Clock, entry: Entry<'_>) -> Result<(), StoreError> {
    let mut moved = None;
    for _ in 0..MAX_APPEND_ATTEMPTS {
        let (length, last) = store.notes(if entry.what.is_cheap() { MAX_COMPARED_NOTES } else { 1 }).await?;
        let known = match entry.what {
            JournalAction::Helped | JournalAction::NotHelped => is_said(&last, entry),
            JournalAction::Refused | JournalAction::Maintenance => is_tried(&last, entry, clock.now()),
            JournalAction::Freeze | JournalAction::Thaw => false,
        };
        if known {
            return Ok(());
        }
        let prev = match last.last() {
            Some(line) => hash_of(line).unwrap_or_default().to_owned(),
            None => Digest::of(BEGINNING).to_string(),
        };
        let line = seal(length + 1, &prev, clock.now(), entry)?;
        match store.note(length, &line).await {
            Err(error @ StoreError::LengthMismatch { .. }) => moved = Some(error),
            done => return done,
        }
    }
    Err(moved.unwrap_or(StoreError::LengthMismatch { length: 0 }))
}

/// Tells whether this is what somebody said of a session last.
fn is_said(lines: &[String], entry: Entry<'_>) -> bool {
    let notes = lines.iter().rev().filter_map(|line| serde_json::from_str::<Note>(line).ok());
    let mut opinions =
        notes.filter(|note| note.what.is_opinion() && note.who == entry.who && note.session == entry.session);
    opinions.next().is_some_and(|note| note.what == entry.what)
}

/// Tells whether somebody wanted the same in vain a short while ago.
fn is_tried(lines: &[String], entry: Entry<'_>, now: Timestamp) -> bool {
    lines.iter().rev().filter_map(|line| serde_json::from_str::<Note>(line).ok()).any(|note| {
        let at = note.at.parse::<Timestamp>().ok();
        let late = at.is_some_and(|at| now.as_millis().saturating_sub(at.as_millis()) < SAME_TRY);
        late && (note.what, note.who.as_str(), note.place.as_str(), note.why.as_str(), note.session.as_str())
            == (entry.what, entry.who, entry.place, entry.why, entry.session)
    })
}

fn seal(seq: u64, prev: &str, at: Timestamp, entry: Entry<'_>) -> Result<String, StoreError> {
    let note = Note {
        format: FORMAT,
        seq,
        at: at.to_string(),
        prev: prev.to_owned(),
        what: entry.what,
        who: entry.who.to_owned(),
        place: entry.place.to_owned(),
        why: entry.why.chars().take(MAX_TEXT_BYTES).collect(),
        session: entry.session.to_owned(),
    };
    let text = serde_json::to_string(&note)
        .map_err(|error| StoreError::Corrupt { what: format!("a note cannot be written: {error}") })?;
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok(format!("{open},\"hash\":\"{}\"}}", Digest::of(open)))
}

/// Returns the hash of a line.
fn hash_of(line: &str) -> Option<&str> {
    line.rsplit_once(",\"hash\":\"")?.1.strip_suffix("\"}")
}

/// Reads a journal, and checks that nothing of it was changed, dropped or moved.
///
/// # Errors
/// Names the first line that is wrong.
pub fn read(lines: &[String]) -> Result<Vec<Note>, Tampered> {
    let mut notes = Vec::with_capacity(lines.len());
    let mut prev = Digest::of(BEGINNING).to_string();
    for (line, seq) in lines.iter().zip(1..) {
        let wrong = |what| Tampered { seq, what };
        let (open, hash) = line.rsplit_once(",\"hash\":\"").ok_or(wrong("has no hash"))?;
        let hash = hash.strip_suffix("\"}").ok_or(wrong("has no hash"))?;
        if Digest::of(open).to_string() != hash {
            return Err(wrong("does not match its hash"));
        }
        let note: Note = serde_json::from_str(line).map_err(|_| wrong("is no note"))?;
        if note.seq != seq || note.prev != prev {
            return Err(wrong("does not follow from the one before"));
        }
        hash.clone_into(&mut prev);
        notes.push(note);
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(many: u64) -> Vec<String> {
        let mut prev = Digest::of(BEGINNING).to_string();
        let mut lines = Vec::new();
        for seq in 1..=many {
            let entry = Entry {
                what: JournalAction::Freeze,
                who: "U1",
                place: "C1",
                why: "\",\"hash\":\"0\"} and more",
                session: "",
            };
            let line = seal(seq, &prev, Timestamp::from_millis(0), entry).unwrap();
            hash_of(&line).unwrap().clone_into(&mut prev);
            lines.push(line);
        }
        lines
    }

    #[test]
    fn what_was_written_is_read() {
        let notes = read(&lines(3)).unwrap();
        assert_eq!(notes.len(), 3);
        assert_eq!(notes.iter().map(|note| note.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(
            notes.iter().all(|note| note.what == JournalAction::Freeze && note.why.ends_with("and more"))
        );
        assert_eq!(read(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_line_that_was_changed_dropped_or_moved_is_named() {
        for (spoil, seq) in [
            ((|lines| lines[1] = lines[1].replace("U1", "U2")) as fn(&mut Vec<String>), 2),
            (|lines| drop(lines.remove(1)), 2),
            (|lines| drop(lines.remove(0)), 1),
            (|lines| lines.swap(1, 2), 2),
            (|lines| lines[2] = String::new(), 3),
            (|lines| lines[2] = lines[2].trim_end_matches('}').to_owned(), 3),
        ] {
            let mut spoiled = lines(3);
            spoil(&mut spoiled);
            assert_eq!(read(&spoiled).unwrap_err().seq, seq);
        }
    }
}
