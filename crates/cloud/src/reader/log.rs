//! Which requests a line sent: entries of its record, without a token, a body, or the rest of a query.

use std::sync::{Mutex, PoisonError};

/// So many requests are named; the rest is counted.
const MAX_NAMED: usize = 24;

/// The requests of one line.
#[derive(Debug, Default)]
pub(super) struct RequestLog(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    lines: Vec<String>,
    /// How many bytes came back.
    bytes: usize,
    /// What was not asked, because it was known.
    known: Option<String>,
}

impl RequestLog {
    /// Notes a request that was answered, or why it was not.
    pub(super) fn note(&self, method: &str, path: &str, came: &str, bytes: usize) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.lines.push(format!("{method} {path}: {came}"));
        noted.bytes = noted.bytes.saturating_add(bytes);
    }

    /// Notes that an answer was known, and since when.
    pub(super) fn note_known(&self, from: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).known = Some(from);
    }

    /// Returns how many bytes came back.
    pub(super) fn bytes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Returns what stands in the record.
    pub(super) fn entries(&self) -> Vec<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = noted.lines.iter().take(MAX_NAMED).cloned();
        let more = noted.lines.len().saturating_sub(MAX_NAMED);
        let rest = (more > 0).then(|| format!("{more} more requests"));
        noted.known.clone().into_iter().chain(named).chain(rest).collect()
    }
}
