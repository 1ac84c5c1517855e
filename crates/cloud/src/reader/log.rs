//! Which requests a line sent: entries of its record, without a token, a body, or the rest of a query.

use std::sync::{Mutex, PoisonError};

/// So many requests are named; the rest is counted.
const MAX_NAMED: usize = 24;

/// The requests of one line.
#[derive(Debug, Default)]
pub(super) struct RequestLog(Mutex<Vec<String>>);

impl RequestLog {
    /// Notes a request that was answered, or why it was not.
    pub(super) fn note(&self, method: &str, path: &str, came: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{method} {path}: {came}"));
    }

    /// Returns what stands in the record.
    pub(super) fn entries(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = all.iter().take(MAX_NAMED).cloned();
        let more = all.len().saturating_sub(MAX_NAMED);
        let rest = (more > 0).then(|| format!("{more} more requests"));
        named.chain(rest).collect()
    }
}
