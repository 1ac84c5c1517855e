//! The words below a thread while somebody works, and the stop button beside them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as Gate;
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
    /// What is shown, as far as it is known.
    words: Option<String>,
    standing: Option<SessionState>,
    changed: Option<Instant>,
    gate: Arc<Gate<()>>,
}

impl Statuses {
    /// Says what a thread is to show; tells whether somebody has to see to it.
    pub(super) fn want(&self, session: &SessionId, status: &str) -> bool {
        self.row(session, |row| {
            status.clone_into(&mut row.wanted);
            row.words.as_deref() != Some(status)
        })
    }

    /// Shows what is wanted now, whoever wanted it, unless it is shown. One call goes after the other, so that nothing older
    /// comes last.
    pub(super) async fn show(
        &self,
        web: &Web,
        session: &SessionId,
        thread: &Thread,
    ) -> Result<(), CallError> {
        let (gate, changed) = self.row(session, |row| (Arc::clone(&row.gate), row.changed));
        // What is wanted meanwhile is said in place of it.
        sleep(rest_of(changed)).await;
        let turn = gate.lock().await;
        let (wanted, words, standing) =
            self.row(session, |row| (row.wanted.clone(), row.words.take(), row.standing.take()));
        let (web, now) = (web.at(Priority::Board), standing_of(&wanted));
        if standing != Some(now) {
            web.session_status(&thread.channel, &thread.ts, now).await?;
        }
        if words.as_ref() != Some(&wanted) {
            web.set_status(&thread.channel, &thread.ts, &wanted, &[]).await?;
        }
        self.shown(session, wanted, now);
        drop(turn);
        Ok(())
    }

    /// Notes what is shown.
    fn shown(&self, session: &SessionId, words: String, standing: SessionState) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(session.clone()).or_default();
        (row.words, row.standing, row.changed) = (Some(words), Some(standing), Some(Instant::now()));
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
fn standing_of(status: &str) -> SessionState {
    match status {
        "" => SessionState::Active,
        _ if status.contains("waiting") => SessionState::Suspended,
        _ => SessionState::Processing,
    }
}
