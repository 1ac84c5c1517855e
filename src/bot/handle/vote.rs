//! What a card shows between a click and the moment at which the session gets to it.

use std::sync::Arc;

use crate::bot::Freeze;
use crate::bot::core::Core;
use crate::bot::present::{RenderedMessage, card_of, context, posted};
use crate::bot::show::Deciding;
use ghost_investigate::event::{Delivered, Reply};
use ghost_investigate::state::{State, Vote};
use ghost_slack::pace::Priority;
use ghost_slack::web::Posted;
use ghost_store::{Approval, ApprovalId, ApprovalState, Choice, StoreError};

/// So often a card is drawn again because it changed meanwhile.
const MAX_REDRAWS: usize = 10;

impl Core {
    /// Shows on a card who said what, at once: the session learns of it when its owner takes it up.
    pub(super) fn show_vote(self: &Arc<Self>, id: &ApprovalId) {
        let (core, id) = (Arc::clone(self), id.clone());
        self.spawn(async move {
            if let Err(error) = core.draw_vote(&id).await {
                tracing::warn!("card update after a vote failed: {error}");
            }
        });
    }

    /// Draws what store and ledger say now. Where they say something else after the update, the update may be older than
    /// one of the session's owner: then it is drawn once more.
    async fn draw_vote(&self, id: &ApprovalId) -> Result<(), String> {
        let mut drawn = None;
        for _ in 0..MAX_REDRAWS {
            let Some((there, rendered)) = self.voted_card(id).await.map_err(|error| error.to_string())?
            else {
                return Ok(());
            };
            if drawn == Some(rendered.digest) {
                return Ok(());
            }
            let web = self.web.at(Priority::Approval);
            web.update(&there, &rendered.message).await.map_err(|error| error.to_string())?;
            drawn = Some(rendered.digest);
        }
        Ok(())
    }

    async fn voted_card(&self, id: &ApprovalId) -> Result<Option<(Posted, RenderedMessage)>, StoreError> {
        let now = self.clock.now();
        let Some(approval) = self.store.find(id, now).await? else { return Ok(None) };
        let Some(mut state) = self.state(&approval.record.session).await? else { return Ok(None) };
        let place = state.place_of(&Delivered::card_of(id.as_str()));
        let Some(there) = place.and_then(|card| posted(&card.place)) else { return Ok(None) };
        let deciding = with_votes(&mut state, &approval);
        let frozen = Freeze::current(self.store.as_ref()).await?;
        let context = crate::bot::show::RenderContext {
            deciding,
            acts_as: self.settings.acts_as.clone(),
            modifier: self.settings.anywhere.approvers.own.modifier,
            ..context(&state, frozen.as_ref())
        };
        let rendered = card_of(&state, id.as_str(), &context, state.last_at);
        Ok(rendered.map(|rendered| (there, rendered)))
    }
}

/// Adds what the store counted and the ledger does not know yet; returns the answer that decided, if one did.
fn with_votes(state: &mut State, found: &Approval) -> Option<Deciding> {
    let asked = state.approvals.get_mut(found.record.id.as_str()).filter(|asked| asked.ending.is_none())?;
    asked.votes = found
        .votes
        .iter()
        .map(|vote| Vote {
            who: vote.reviewer.clone(),
            approves: vote.choice == Choice::Approve,
            at: vote.at,
        })
        .collect();
    let ApprovalState::Decided(vote) = &found.state else { return None };
    let answer =
        serde_json::from_str(&vote.note).unwrap_or_else(|_| Reply::Deny { reason: vote.note.clone() });
    Some(Deciding { who: vote.reviewer.clone(), answer })
}
