//! Questions to humans: made durable, taken back, waited for.

use crate::session::arrive::anything;
use crate::session::desk::{Desk, patiently};
use crate::session::drive::Hands;
use crate::session::keep::keep;
use crate::session::{Engine, EngineError, Rest};
use ghost_base::Timestamp;
use ghost_investigate::event::{ApprovalRequested, Reply};
use ghost_investigate::state::State;
use ghost_store::{ApprovalId, ApprovalRecord, ApprovalState, Choice, Vote};

impl Engine {
    /// Makes a question durable, so that anybody can answer it. Doing it twice changes nothing.
    pub(super) async fn open_question(
        &self,
        desk: &Desk<'_>,
        requested: &ApprovalRequested,
    ) -> Result<(), EngineError> {
        let Ok(id) = requested.approval.parse::<ApprovalId>() else { return Ok(()) };
        let opened_at = desk.state().map_or_else(|| self.clock.now(), |state| state.last_at);
        let record = ApprovalRecord {
            id,
            session: desk.session().clone(),
            digest: requested.digest.to_string(),
            opened_at,
            expires_at: requested.expires_at,
            body: serde_json::to_string(requested)?,
            votes_needed: requested.votes_needed,
        };
        patiently(self, || self.store.open(&record)).await?;
        Ok(())
    }

    /// Answers no in the name of whoever stops the session.
    pub(super) async fn withdraw(&self, desk: &Desk<'_>, approval: &str) -> Result<(), EngineError> {
        let (Some(state), Ok(id)) = (desk.state(), approval.parse::<ApprovalId>()) else { return Ok(()) };
        let Some(open) = state.approvals.get(approval) else { return Ok(()) };
        self.open_question(desk, &open.requested).await?;
        let who = state.end_request.as_ref().map_or("nobody", |(who, _)| who.as_str());
        let vote = Vote {
            reviewer: who.to_owned(),
            choice: Choice::Deny,
            note: Reply::STOPPED.to_owned(),
            at: self.clock.now(),
            key: format!("stop-{approval}"),
        };
        patiently(self, || self.store.vote(&id, &vote)).await?;
        Ok(())
    }

    /// Waits for a human without holding anything, or for a moment that a tool wants.
    pub(super) async fn wait(
        &self,
        desk: &mut Desk<'_>,
        hands: &Hands,
        until: Option<Timestamp>,
    ) -> Result<Option<Rest>, EngineError> {
        let asked = desk.state().and_then(State::open_approval).map(|open| open.requested.clone());
        if let Some(requested) = asked {
            self.open_question(desk, &requested).await?;
            let Ok(id) = requested.approval.parse::<ApprovalId>() else { return Ok(Some(Rest::Over)) };
            let now = self.clock.now();
            // Looking a question up lets it run out; the notice then lies in the inbox.
            let found = patiently(self, || self.store.find(&id, now)).await?;
            let open = found.is_none_or(|found| found.state == ApprovalState::Pending);
            let until = requested.expires_at;
            return Ok(open.then_some(Rest::Waiting { approval: requested.approval, until }));
        }
        let Some(until) = until else { return Ok(Some(Rest::Over)) };
        let mut pause = hands.pause.clone();
        let session = desk.session().clone();
        let waiting = async {
            tokio::select! {
                biased;
                () = pause.canceled() => {}
                () = anything(self, &session) => {}
                () = self.sleep.until(until) => {}
            }
        };
        let ((), lease) = keep(desk, waiting).await?;
        desk.lease = lease;
        Ok(None)
    }
}
