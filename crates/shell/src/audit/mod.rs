//! Keeps the record of what the gate decided and did, so that a change to it shows.
//!
//! Goes in: one [`Entry`] per decision, intent and result, already redacted. Comes out: one line of JSON each in
//! `DIR/SESSION.jsonl`, chained by SHA-256 and on the disk before the call returns; and [`verify()`], which says whether
//! such a file is whole. Never: a line that is changed, dropped or reordered afterwards, by us or by a crash.
//!
//! ```
//! # use ghost_base::{Clock, SystemClock};
//! # use ghost_shell::audit::{Entry, Kind, Log, verify};
//! # let folder = tempfile::tempdir()?;
//! let mut log = Log::open(folder.path(), "s1".parse()?)?;
//! let intent = log.append(SystemClock.now(), &Entry::new(Kind::Intent, "ip -br link"))?;
//! let done = Entry { audit_id: Some(intent.audit_id), ..Entry::new(Kind::Done, "ip -br link") };
//! let receipt = log.append(SystemClock.now(), &done)?;
//! let file = std::fs::read(log.path())?;
//! assert!(verify(&file[..], Some(&receipt.head.to_string()))?.ok);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The line
//! One JSON object of format 1. Its first keys are `format`, `session`, `seq` (from 1, without a gap), `at`, `prev` and
//! `audit_id`; its last is `hash`, the SHA-256 of the line's own bytes before `,"hash":"`. `prev` is the hash of the
//! record before; the first record holds the SHA-256 of the session's name. No tool of ours is needed to check it:
//! `sed -n 7p FILE | sed 's/,"hash":"[0-9a-f]*"}$//' | tr -d '\n' | sha256sum`.
//!
//! # Invariants
//! - A file only grows. A line that a crash cut short stays, is closed by a newline, and a `repaired` record behind
//!   it states the length and the SHA-256 of all bytes between the record before and itself. Nothing else excuses
//!   bytes that are no record.
//! - A record that is whole but wrong was changed, not torn: the log then refuses to go on.
//! - Two processes never interleave: each append holds the file's lock and first reads what others added.
//! - The records of one command share an `audit_id`: the session and the number of the command's first record.
//! - The chain alone proves nothing against whoever owns the disk; an [`Anchor`] keeps the head elsewhere.

mod anchor;
mod chain;
mod entry;
mod error;
mod line;
mod log;
mod open;
mod runs;
#[cfg(test)]
mod tests;
mod verify;

pub use anchor::{Anchor, FileAnchor, NoAnchor, SyslogAnchor};
pub use chain::Broken;
pub use entry::{Approval, Confinement, Consent, Entry, Evidence, Kind};
pub use error::Error;
pub use line::{FORMAT, MAX_LINE_BYTES};
pub use log::{Log, Receipt};
pub use open::for_reading;
pub use runs::{KeptOutput, Run, RunEnd, runs};
pub use verify::{NotedHead, Verification, noted_head, verify};
