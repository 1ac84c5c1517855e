//! The words below a thread while somebody works, and the stop button beside them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::bot::Thread;
use crate::bot::present::tracker::rest_of;
use ghost_base::SessionId;
use ghost_slack::pace::Priority;
use ghost_slack::web::{CallError, SessionState, Web};

/// Of so many threads it is remembered what they show; of those in which nobody works it can be forgotten.
const MAX_TRACKED_MESSAGES: usize = 10_000;

/// A thread whose words have not changed for so long belongs to a session that goes on elsewhere, or waits.
const TRACKED_FOR: Duration = Duration::from_secs(3600);

/// What threads show, and what they are to show.
#[derive(Default)]
pub(super) struct Statuses(Mutex<HashMap<SessionId, StatusRow>>);

#[derive(Default)]
struct StatusRow {
    wanted: String,
    /// What is being sent, and how many were begun: only the newest knows what the thread shows afterwards.
    sending: Option<String>,
    begun: u64,
    /// What is shown, as far as it is known: nothing while a call runs.
    words: Option<String>,
    standing: Option<SessionState>,
    changed: Option<Instant>,
}

/// Something that is being sent.
struct Sending {
    number: u64,
    wanted: String,
    standing: Option<SessionState>,
}

impl StatusRow {
    /// Begins to send what is wanted, unless it is shown or somebody sends it.
    fn begin(&mut self) -> Option<Sending> {
        if self.words.as_ref() == Some(&self.wanted) || self.sending.as_ref() == Some(&self.wanted) {
            return None;
        }
        self.begun += 1;
        self.words = None;
        self.sending = Some(self.wanted.clone());
        Some(Sending { number: self.begun, wanted: self.wanted.clone(), standing: self.standing.take() })
    }

    /// Notes that all of something was sent.
    fn sent(&mut self, sending: Sending, standing: SessionState) {
        self.changed = Some(Instant::now());
        if sending.number == self.begun {
            (self.words, self.standing) = (Some(sending.wanted), Some(standing));
            self.sending = None;
        } else if self.sending.is_none() {
            // What is newer was sent already: which of both the thread shows is not known.
            (self.words, self.standing) = (None, None);
        }
    }

    /// Notes that something could not be sent.
    fn failed(&mut self, sending: &Sending) {
        if sending.number == self.begun {
            self.sending = None;
        }
    }
}

impl Statuses {
    /// Says what a thread is to show; tells whether somebody has to see to it.
    pub(super) fn want(&self, session: &SessionId, status: &str) -> bool {
        self.row(session, |row| {
            status.clone_into(&mut row.wanted);
            row.words.as_deref() != Some(status)
        })
    }

    /// Shows what is wanted now, whoever wanted it, unless it is shown. What is older and still waits for its turn gives its place
    /// to what is newer, so that nobody who is done seems to work.
    pub(super) async fn show(
        &self,
        web: &Web,
        session: &SessionId,
        thread: &Thread,
    ) -> Result<(), CallError> {
        // What is wanted meanwhile is said in place of it.
        sleep(rest_of(self.row(session, |row| row.changed))).await;
        while let Some(sending) = self.row(session, StatusRow::begin) {
            let standing = standing_of(&sending.wanted);
            if let Err(error) = self.send(web, session, thread, &sending, standing).await {
                self.row(session, |row| row.failed(&sending));
                return Err(error);
            }
            self.row(session, |row| row.sent(sending, standing));
        }
        self.forget_idle();
        Ok(())
    }

    async fn send(
        &self,
        web: &Web,
        session: &SessionId,
        thread: &Thread,
        sending: &Sending,
        standing: SessionState,
    ) -> Result<(), CallError> {
        // Words that stay say something false; words that come late say nothing yet.
        let priority = if sending.wanted.is_empty() { Priority::Other } else { Priority::Board };
        let web = web.at(priority);
        if sending.standing != Some(standing) {
            web.session_status(&thread.channel, &thread.ts, standing).await?;
        }
        if self.row(session, |row| row.begun == sending.number) {
            web.set_status(&thread.channel, &thread.ts, &sending.wanted, &[]).await?;
        }
        Ok(())
    }

    fn forget_idle(&self) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() > MAX_TRACKED_MESSAGES {
            let recent = |row: &StatusRow| row.changed.is_none_or(|changed| changed.elapsed() < TRACKED_FOR);
            rows.retain(|_, row| !row.wanted.is_empty() && recent(row));
        }
    }

    fn row<T>(&self, session: &SessionId, look: impl FnOnce(&mut StatusRow) -> T) -> T {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        look(rows.entry(session.clone()).or_default())
    }
}

/// Returns what the words mean for the stop button.
pub(super) fn standing_of(status: &str) -> SessionState {
    match status {
        "" => SessionState::Active,
        _ if status.contains("waiting") => SessionState::Suspended,
        _ => SessionState::Processing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanting(status: &str) -> StatusRow {
        StatusRow { wanted: status.to_owned(), ..StatusRow::default() }
    }

    #[test]
    fn one_sender_is_enough() {
        let mut row = wanting("is measuring");
        let first = row.begin().unwrap();
        assert!(row.begin().is_none());
        row.sent(first, SessionState::Processing);
        assert!(row.begin().is_none());
    }

    #[test]
    fn what_is_newer_does_not_wait_for_what_is_older() {
        let mut row = wanting("is measuring");
        let older = row.begin().unwrap();
        row.wanted.clear();
        let newer = row.begin().unwrap();
        row.sent(older, SessionState::Processing);
        // The newer one is still being sent, behind the older one.
        assert!(row.begin().is_none());
        row.sent(newer, SessionState::Active);
        assert_eq!(row.words.as_deref(), Some(""));
        assert!(row.begin().is_none());
    }

    #[test]
    fn what_is_older_and_ends_last_is_sent_over() {
        let mut row = wanting("is measuring");
        let older = row.begin().unwrap();
        row.wanted.clear();
        let newer = row.begin().unwrap();
        row.sent(newer, SessionState::Active);
        row.sent(older, SessionState::Processing);
        let again = row.begin().unwrap();
        assert_eq!((again.wanted.as_str(), again.standing), ("", None));
    }

    #[test]
    fn what_failed_is_sent_again() {
        let mut row = wanting("is measuring");
        let lost = row.begin().unwrap();
        row.failed(&lost);
        assert!(row.begin().is_some());
    }
}
