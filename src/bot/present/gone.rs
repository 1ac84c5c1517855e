//! What becomes of a report whose thread the bot can write to no more.

use crate::bot::Thread;
use crate::bot::present::Presenter;
use crate::bot::present::render::METADATA;
use ghost_investigate::state::State;
use ghost_slack::pace::Priority;
use ghost_slack::text::channel as named;
use ghost_slack::web::{Address, CallError, Message, Plan};

/// Returns Slack's word where a place is gone. To ask again would change nothing.
pub(super) fn gone(error: &CallError) -> Option<&str> {
    error.code().filter(|_| error.plan() == Some(Plan::Direct))
}

impl Presenter {
    /// Brings the report to whoever asked for it, because its thread takes nothing any more. Where not even that can be done
    /// the report stays in the ledger, and counts as delivered nowhere.
    pub(super) async fn publish_directly(
        &self,
        state: &State,
        lost: &Thread,
        why: &str,
    ) -> Result<String, CallError> {
        let nowhere = |code: &str| {
            tracing::warn!(session.id = %state.session, "report of session {} undeliverable: {why}, {code}", state.session);
            Ok(format!("nowhere ({why})"))
        };
        match self.directly(state, lost, why).await {
            Err(error) => match error.code() {
                Some(code) => nowhere(code),
                None => Err(error),
            },
            done => done,
        }
    }

    async fn directly(&self, state: &State, lost: &Thread, why: &str) -> Result<String, CallError> {
        let web = self.web.at(Priority::Report);
        let channel = web.open_dm(&state.opened.requester).await?;
        let what = format!("report {} place", state.earlier.len() + 1);
        let said = web.history(&channel, None, None, None).await?.messages;
        let there = said.into_iter().find(|words| self.is_ours(words, state.session.as_str(), &what));
        let root = match there {
            Some(words) => words.ts,
            None => {
                let text = format!(
                    "I cannot write in {} any more ({why}), so the report of session {} comes here.",
                    named(&lost.channel),
                    state.session
                );
                let fields = [("session", state.session.as_str()), ("what", what.as_str())];
                web.post(&Address::channel(&channel), &Message::text(text).with_metadata(METADATA, &fields))
                    .await?
                    .ts
            }
        };
        self.publish_in(state, &Thread { channel, ts: root, ..Thread::default() }, false).await
    }
}
