//! Shows at once that commands are frozen, or no longer.
//!
//! Whoever took the order shows it on every board and open card, whichever replica they belong to. The others see the flag a
//! moment later, and show it where they are at work themselves: what they drew meanwhile did not know of it.

use std::sync::PoisonError;

use crate::bot::present::Presenter;
use crate::bot::{Freeze, Thread};
use ghost_base::SessionId;
use ghost_investigate::report::Summary;

/// How many sessions are shown anew; the latest come first.
const MAX_REDRAWN_SESSIONS: usize = 5_000;

#[derive(serde::Deserialize)]
struct PostedSummary {
    summary: Summary,
}

impl Presenter {
    /// Reads the freeze flag. The sessions that run here and whose boards show something else are drawn again.
    pub(super) async fn check_freeze(&self) {
        self.notice().await;
        let known = self.known_freeze();
        let outdated: Vec<SessionId> = {
            let driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
            driven
                .iter()
                .filter(|(_, driven)| driven.drawn != known)
                .map(|(session, _)| session.clone())
                .collect()
        };
        for session in outdated {
            self.redraw(&session).await;
        }
    }

    /// The freeze that holds as far as this replica knows.
    pub(super) fn known_freeze(&self) -> Option<Freeze> {
        self.frozen.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps with which freeze the board of a session that runs here was drawn.
    pub(super) fn note_drawn(&self, session: &SessionId, frozen: Option<&Freeze>) {
        let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driven) = driven.get_mut(session) {
            driven.drawn = frozen.cloned();
        }
    }

    /// Checks once more after drawing the board of a session that does not run here: the call may have waited while everything was held back or
    /// let go, and then what it shows is older than what stood there.
    pub(super) async fn recheck_freeze(&self, session: &SessionId, drawn: Option<&Freeze>) {
        if self.is_driven(session) {
            return;
        }
        let Ok(found) = Freeze::current(self.store.as_ref()).await else { return };
        if found.as_ref() != drawn {
            self.notice().await;
            self.redraw(session).await;
        }
    }

    /// Shows on everything that stands open whether it is held back.
    pub async fn show_freeze(&self) {
        self.notice().await;
        let posted = match self.store.posted(MAX_REDRAWN_SESSIONS).await {
            Ok(posted) => posted,
            Err(error) => return tracing::warn!("freeze display delayed: {error}"),
        };
        for (session, line) in posted {
            let over = serde_json::from_str::<PostedSummary>(&line)
                .is_ok_and(|line| line.summary.state == "concluded");
            if !over {
                self.redraw(&session).await;
            }
        }
    }

    /// Reads the flag. Where the store does not answer, what was known stays.
    async fn notice(&self) {
        if let Ok(found) = Freeze::current(self.store.as_ref()).await {
            *self.frozen.write().unwrap_or_else(PoisonError::into_inner) = found;
        }
    }

    async fn redraw(&self, session: &SessionId) {
        let Some(state) = self.state(session).await else { return };
        let Some(thread) = Thread::of_state(&state).filter(|_| !state.is_over()) else {
            return;
        };
        self.show_board(&state);
        if let Some(open) = state.open_approval() {
            self.show_card(&state, &open.requested.approval);
        }
        self.show_status(&state, &thread);
    }
}
