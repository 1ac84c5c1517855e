//! Showing what a session came to elsewhere.
//!
//! The board or a card of a session that was given back, or never was here, waits for its turn towards Slack, and another replica may be
//! at work on the session by then. Whoever shows something that late first checks whether the ledger has changed, and once more when it
//! stands there: what is older never stays. So does whoever lost a session to another replica, for instance while the store was away: what
//! it showed until it learned of that may have taken the place of something newer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::bot::Thread;
use crate::bot::present::Presenter;
use crate::bot::present::render::{board_of, card_of, posted};
use crate::bot::present::tracker::Change;
use ghost_base::SessionId;
use ghost_investigate::event::{Delivered, read};
use ghost_investigate::state::State;
use ghost_slack::pace::Priority;
use ghost_slack::web::CallError;

/// So often a session may go on elsewhere while it is being followed; then whoever is at work there shows it.
const MAX_UPDATE_ATTEMPTS: usize = 8;

/// How soon a store that did not answer is asked again whether a session went on.
const STORE_RETRY_PAUSE: Duration = Duration::from_secs(1);

impl Presenter {
    /// Shows a board, or what the session came to meanwhile.
    pub(super) async fn board(&self, session: &SessionId, seq: u64, change: Change) -> Result<(), CallError> {
        if self.tracker.is_overtaken(&change) {
            return Ok(());
        }
        let shown = self.unless_older(session, seq, change, Priority::Board).await;
        if shown.as_ref().is_err_and(|error| self.plan_was_refused(error))
            && let Some(state) = self.state(session).await
        {
            return self.catch_up(&state).await;
        }
        // A call whose answer was lost may still have changed the board.
        self.follow(session, seq).await;
        shown
    }

    /// Shows the card of a question, or what became of the question meanwhile.
    pub(super) async fn card(
        &self,
        session: &SessionId,
        approval: &str,
        mut seq: u64,
        change: Change,
    ) -> Result<(), CallError> {
        if self.tracker.is_overtaken(&change) {
            return Ok(());
        }
        let mut shown = self.unless_older(session, seq, change, Priority::Approval).await;
        for _ in 0..MAX_UPDATE_ATTEMPTS {
            let Some(state) = self.newer(session, seq).await else { break };
            seq = state.seq;
            shown = self.catch_up_card(&state, approval).await;
        }
        shown
    }

    /// Shows whatever was shown here of a session as its ledger has it, where another replica went on with it after `seq`.
    pub(super) async fn follow_whole(&self, session: &SessionId, seq: u64) {
        let Some(state) = self.newer(session, seq).await else { return };
        let is_known = |approval: &&String| {
            let card = state.place_of(&Delivered::card_of(approval)).and_then(|card| posted(&card.place));
            card.is_some_and(|there| self.tracker.knows(&there))
        };
        for approval in state.approvals.keys().filter(is_known) {
            if let Err(error) = self.catch_up_card(&state, approval).await {
                tracing::warn!(session.id = %session, "card update of session {session} delayed: {error}");
            }
        }
        self.follow(session, seq).await;
    }

    /// Shows a card as the ledger has it.
    async fn catch_up_card(&self, state: &State, approval: &str) -> Result<(), CallError> {
        let there = state.place_of(&Delivered::card_of(approval)).and_then(|card| posted(&card.place));
        let rendered = card_of(state, approval, &self.context(state), state.last_at);
        let Some((there, rendered)) = there.zip(rendered) else { return Ok(()) };
        let change = self.tracker.want(there.clone(), rendered);
        let shown = self.tracker.show(&self.web.at(Priority::Approval), change).await.map(drop);
        if state.is_reported() {
            self.tracker.forget(&there);
        }
        shown
    }

    /// Makes a change, unless another replica went on with the session since it was drawn.
    async fn unless_older(
        &self,
        session: &SessionId,
        seq: u64,
        change: Change,
        priority: Priority,
    ) -> Result<(), CallError> {
        // Where the store does not say so, nobody did; it is asked again when this is shown.
        if !self.is_driven(session) && self.store.length(session).await.is_ok_and(|length| length > seq) {
            return Ok(());
        }
        self.tracker.show(&self.web.at(priority), change).await.map(drop)
    }

    /// Shows a session as its ledger has it, where another replica went on with it.
    pub(super) async fn follow(&self, session: &SessionId, mut seq: u64) {
        for _ in 0..MAX_UPDATE_ATTEMPTS {
            let Some(state) = self.newer(session, seq).await else { return };
            seq = state.seq;
            if let Err(error) = self.catch_up(&state).await {
                return tracing::warn!(session.id = %session, "board update of session {session} delayed: {error}");
            }
        }
    }

    async fn catch_up(&self, state: &State) -> Result<(), CallError> {
        let context = self.context(state);
        let there = state.place_of(Delivered::BOARD).and_then(|board| posted(&board.place));
        // A board that was forgotten had its last look from here.
        if let Some(there) = there.filter(|there| self.tracker.knows(there)) {
            let rendered = board_of(state, &context, state.last_at);
            let change = self.tracker.want(there.clone(), rendered);
            match self.tracker.show(&self.web.at(Priority::Board), change).await {
                Err(error) if self.plan_was_refused(&error) => {
                    let rendered = board_of(state, &self.context(state), state.last_at);
                    let change = self.tracker.want(there, rendered);
                    self.tracker.show(&self.web.at(Priority::Board), change).await?;
                }
                shown => drop(shown?),
            }
        }
        if let Some(thread) = Thread::of_state(state).filter(|_| state.opened.outside.is_none())
            && self.statuses.want(&state.session, &crate::bot::show::agent_status(state, &context))
        {
            self.statuses.show(&self.web, &state.session, &thread).await?;
        }
        if state.is_reported() {
            self.end(state);
        }
        Ok(())
    }

    /// Returns a session as its ledger has it, where another replica went on with it. A store that does not answer is waited for: what
    /// another replica showed meanwhile is not known before.
    async fn newer(&self, session: &SessionId, seq: u64) -> Option<State> {
        loop {
            if self.is_driven(session) {
                return None;
            }
            match self.store.length(session).await {
                Ok(length) if length <= seq => return None,
                Ok(_) => match self.store.read(session, 0).await {
                    Ok(lines) => return state_of(session, &lines),
                    Err(error) => tracing::debug!("{error}"),
                },
                Err(error) => tracing::debug!("{error}"),
            }
            if self.is_ending.load(Ordering::Relaxed) {
                return None;
            }
            tokio::time::sleep(STORE_RETRY_PAUSE).await;
        }
    }

    /// Returns a session as its ledger has it.
    pub(super) async fn state(&self, session: &SessionId) -> Option<State> {
        state_of(session, &self.store.read(session, 0).await.ok()?)
    }
}

fn state_of(session: &SessionId, lines: &[String]) -> Option<State> {
    let recorded = read(session, lines.iter().map(String::as_str)).ok()?;
    State::fold(session, &recorded).ok()
}
