//! What people do: they mention the bot, and press the buttons of cards.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use ghost_agent::bot::Thread;
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_investigate::event::{Delivered, Recorded, read};
use ghost_investigate::state::State;
use ghost_store::{ApprovalState, Approvals as _, Ledger as _};
use serde_json::{Value, json};

use super::stage::Stage;
use crate::bot::stage::has_button;

/// Nothing here takes longer, however busy the machine is.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);
/// How many people are there.
const CROWD: usize = 16;

/// A thread with a session.
#[derive(Debug, Clone)]
pub(super) struct Talk {
    pub(super) number: usize,
    pub(super) waits: bool,
    pub(super) thread: Thread,
    pub(super) session: SessionId,
}

impl Stage {
    /// Mentions the bot so often, many people at a time.
    pub(super) async fn mention(&self, numbers: std::ops::Range<usize>, waits: bool) -> Vec<Talk> {
        let kind = if waits { "wait" } else { "busy" };
        let talks = stream::iter(numbers).map(async |number| {
            let channel = self.channels.get(number % self.channels.len()).unwrap();
            let text = format!("@Ghost crowd-{kind}-{number}: the link is down");
            let said =
                self.person("message", json!({"user": "alice", "channel": channel, "text": text})).await;
            let ts = said["ts"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned();
            let thread = Thread { team: String::new(), channel: channel.clone(), ts };
            Talk { number, waits, session: thread.session(), thread }
        });
        talks.buffer_unordered(CROWD).collect().await
    }

    /// Returns what is recorded of a session. It is a chain without a gap.
    pub(super) async fn recorded(&self, talk: &Talk) -> Vec<Recorded> {
        // A Redis that is busy with the replicas may let readers wait.
        let look = async || self.store.read(&talk.session, 0).await.map_err(|error| error.to_string());
        let lines = self.until(PATIENCE, look).await;
        read(&talk.session, lines.iter().map(String::as_str)).unwrap()
    }

    /// Returns where a session stands; nothing where nobody began it.
    pub(super) async fn state(&self, talk: &Talk) -> Option<State> {
        let recorded = self.recorded(talk).await;
        (!recorded.is_empty()).then(|| State::fold(&talk.session, &recorded).unwrap())
    }

    /// Waits until all sessions are as somebody wants them.
    pub(super) async fn all(&self, talks: &[Talk], what: &str, wanted: impl Fn(&State) -> bool) {
        let mut left: Vec<&Talk> = talks.iter().collect();
        let limit = PATIENCE + Duration::from_millis(300) * u32::try_from(talks.len()).unwrap();
        self.until(limit, async || {
            let mut still = Vec::new();
            for talk in left.drain(..) {
                if !self.state(talk).await.is_some_and(|state| wanted(&state)) {
                    still.push(talk);
                }
            }
            left = still;
            match left.first() {
                None => Ok(()),
                Some(one) => Err(format!("{what}: {} of {}, {one:?} for one", left.len(), talks.len())),
            }
        })
        .await;
    }

    /// Answers every question of the sessions, always with a double click, until they are over.
    pub(super) async fn answer(&self, talks: &[Talk]) {
        stream::iter(talks)
            .map(async |talk| self.answer_one(talk).await)
            .buffer_unordered(CROWD)
            .collect::<()>()
            .await;
    }

    /// Does so as long as there is time.
    pub(super) async fn answer_for_a_while(&self, talks: &[Talk], limit: Duration) {
        drop(tokio::time::timeout(limit, self.answer(talks)).await);
    }

    /// Waits until nobody holds a session that is over, and until its board says so: that waits for its turn towards Slack, and may
    /// come when the session was given back.
    pub(super) async fn at_rest(&self, talk: &Talk) {
        let one = std::slice::from_ref(&talk.session);
        self.until(PATIENCE, async || {
            if !self.held_by("", one).await.is_empty() {
                return Err(format!("{talk:?} is given back"));
            }
            match self.said(talk).await.iter().any(|message| has_button(message, "stop")) {
                false => Ok(()),
                true => Err(format!("the board of {talk:?} says that it is over")),
            }
        })
        .await;
    }

    async fn answer_one(&self, talk: &Talk) {
        self.until(2 * PATIENCE, async || {
            let missing = || format!("an answer in {talk:?} leads to its end");
            let state = self.state(talk).await.ok_or_else(missing)?;
            if state.is_reported() {
                return Ok(());
            }
            if let Some((name, place)) = card(&state) {
                let id = name.parse().unwrap();
                let found = self.store.find(&id, SystemClock.now()).await.unwrap();
                if found.is_some_and(|found| found.state == ApprovalState::Pending) {
                    let (_, ts) = place.split_once('/').unwrap();
                    let press = json!({"user": "bob", "channel": talk.thread.channel, "ts": ts, "action_id": "approve",
                        "wait_ms": 0});
                    // A click that meets a replica which dies is lost, as in Slack; then somebody presses once more.
                    tokio::join!(self.person("press", press.clone()), self.person("press", press));
                }
            }
            Err(missing())
        })
        .await;
    }

    /// Returns what the bot said in a thread, with its metadata.
    pub(super) async fn said(&self, talk: &Talk) -> Vec<Value> {
        let arguments = json!({"channel": talk.thread.channel, "ts": talk.thread.ts, "limit": 200,
            "include_all_metadata": true});
        let answer = self.api("conversations.replies", arguments).await;
        let messages = answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
        messages.iter().filter(|message| message["user"] == "U0LABGHOST").cloned().collect()
    }
}

/// Returns the open question of a session and where its card stands.
pub(super) fn card(state: &State) -> Option<(String, String)> {
    let open = state.open_approval()?.requested.approval.clone();
    let place = state.place_of(&Delivered::card_of(&open))?.place.clone();
    Some((open, place))
}
