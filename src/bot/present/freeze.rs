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
    /// Reads the freeze flag. Where it changed, the sessions that run here are drawn again.
    pub(super) async fn check_freeze(&self) {
        if self.notice().await {
            let driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for session in driven.into_keys() {
                self.redraw(&session).await;
            }
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

    /// Reads the flag; tells whether it is another one than before.
    async fn notice(&self) -> bool {
        let Ok(found) = Freeze::current(self.store.as_ref()).await else { return false };
        let mut frozen = self.frozen.write().unwrap_or_else(PoisonError::into_inner);
        let changed = *frozen != found;
        *frozen = found;
        changed
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
