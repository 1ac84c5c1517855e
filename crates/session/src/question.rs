//! Questions to humans: made durable, taken back, waited for.

use crate::arrive::any_message;
use crate::drive::DriveControl;
use crate::owned::{OwnedSession, hold_lease, retry_until_available};
use crate::{DriveOutcome, Engine, EngineError};
use ghost_base::Timestamp;
use ghost_investigate::event::{ApprovalRequested, Reply};
use ghost_investigate::state::State;
use ghost_store::{ApprovalId, ApprovalRecord, ApprovalState, Choice, Vote};

impl Engine {
    /// Makes a question durable, so that anybody can answer it. Doing it twice changes nothing.
    pub(super) async fn open_question(
        &self,
        owned: &OwnedSession<'_>,
        requested: &ApprovalRequested,
    ) -> Result<(), EngineError> {
        let Ok(id) = requested.approval.parse::<ApprovalId>() else { return Ok(()) };
        let opened_at = owned.state().map_or_else(|| self.clock.now(), |state| state.last_at);
        let record = ApprovalRecord {
            id,
            session: owned.session().clone(),
            digest: requested.digest.to_string(),
            opened_at,
            expires_at: requested.expires_at,
            body: serde_json::to_string(requested)?,
            votes_needed: requested.votes_needed,
        };
        retry_until_available(self, || self.store.open(&record)).await?;
        Ok(())
    }

    /// Answers no in the name of whoever stops the session.
    pub(super) async fn withdraw(&self, owned: &OwnedSession<'_>, approval: &str) -> Result<(), EngineError> {
        let (Some(state), Ok(id)) = (owned.state(), approval.parse::<ApprovalId>()) else { return Ok(()) };
        let Some(open) = state.approvals.get(approval) else { return Ok(()) };
        self.open_question(owned, &open.requested).await?;
        let who = state.end_request.as_ref().map_or("nobody", |(who, _)| who.as_str());
        let vote = Vote {
            reviewer: who.to_owned(),
            choice: Choice::Deny,
            note: Reply::STOPPED.to_owned(),
            at: self.clock.now(),
            key: format!("stop-{approval}"),
        };
        retry_until_available(self, || self.store.vote(&id, &vote)).await?;
        Ok(())
    }

    /// Waits for a human without holding anything, or for a moment that a tool wants.
    pub(super) async fn wait(
        &self,
        owned: &mut OwnedSession<'_>,
        control: &DriveControl,
        until: Option<Timestamp>,
    ) -> Result<Option<DriveOutcome>, EngineError> {
        let asked = owned.state().and_then(State::open_approval).map(|open| open.requested.clone());
        if let Some(requested) = asked {
            self.open_question(owned, &requested).await?;
            let Ok(id) = requested.approval.parse::<ApprovalId>() else {
                return Ok(Some(DriveOutcome::Over));
            };
            let now = self.clock.now();
            // Looking a question up lets it run out; the notice then lies in the inbox.
            let found = retry_until_available(self, || self.store.find(&id, now)).await?;
            let open = found.is_none_or(|found| found.state == ApprovalState::Pending);
            let until = requested.expires_at;
            return Ok(open.then_some(DriveOutcome::Waiting { approval: requested.approval, until }));
        }
        let Some(until) = until else { return Ok(Some(DriveOutcome::Over)) };
        if owned.state().is_some_and(|state| state.opened.outside.is_some()) {
            return Ok(Some(DriveOutcome::Offered { until }));
        }
        let mut pause = control.pause.clone();
        let session = owned.session().clone();
        let waiting = async {
            tokio::select! {
                biased;
                () = pause.canceled() => {}
                () = any_message(self, &session) => {}
                () = self.sleep.until(until) => {}
            }
        };
        let ((), lease) = hold_lease(owned, waiting).await?;
        owned.lease = lease;
        Ok(None)
    }
}
