//! What a session is to look like: its board and its cards, as messages with their digests.

use serde_json::json;

use crate::bot::present::status::standing_of;
use crate::bot::show::{
    self, Frozen, People, Person, RenderContext, agent_status, alert, alert_news, board, card, streamed,
};
use crate::bot::{Freeze, Thread};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_investigate::event::Delivered;
use ghost_investigate::memory::Memory;
use ghost_investigate::state::State;
use ghost_investigate::usage::Usage;
use ghost_slack::block::SlackBlock;
use ghost_slack::web::{Message, Posted, SessionState, Streamed};

/// The type of the metadata by which our own messages are found again.
pub(super) const METADATA: &str = "ghost";

/// Something that is shown.
#[derive(Clone)]
pub(in crate::bot) struct RenderedMessage {
    /// `board`, or `card` and its question.
    pub(super) what: String,
    /// How much of the ledger it shows.
    pub(super) seq: u64,
    pub(in crate::bot) message: Message,
    /// What of it is compared.
    pub(in crate::bot) digest: Digest,
    /// The same as it is written while it is read, where it is.
    pub(super) streamed: Option<Streamed>,
    /// What the thread shows of the session once nothing is written any more.
    pub(super) standing: SessionState,
}

impl RenderedMessage {
    pub(super) fn new(state: &State, what: String, drawn: &show::Message) -> Self {
        let digest = Digest::of(drawn.to_json().to_string());
        let fields = [("session", state.session.as_str()), ("what", what.as_str())];
        let message = converted(drawn).with_metadata(METADATA, &fields);
        Self { what, seq: state.seq, message, digest, streamed: None, standing: SessionState::Active }
    }
}

/// Turns what was drawn into what is sent.
pub(in crate::bot) fn converted(drawn: &show::Message) -> Message {
    let blocks = drawn.blocks.iter().cloned().map(SlackBlock::Unknown).collect();
    Message::text(drawn.text.clone()).with_blocks(blocks)
}

/// Returns the board at a moment.
pub(super) fn board_of(state: &State, context: &RenderContext, now: Timestamp) -> RenderedMessage {
    let drawn = RenderedMessage::new(state, Delivered::BOARD.to_owned(), &board(state, context, now));
    let standing = standing_of(&agent_status(state, context));
    RenderedMessage { streamed: streamed(state, context, now), standing, ..drawn }
}

/// Returns the message that the thread of an alert hangs on.
pub(super) fn alert_of(state: &State) -> Option<RenderedMessage> {
    Some(RenderedMessage::new(state, Delivered::ALERT.to_owned(), &alert(state)?))
}

/// Returns what the sender of an alert said later, in order.
pub(super) fn alert_news_of(state: &State) -> Vec<RenderedMessage> {
    let news = alert_news(state).into_iter();
    news.map(|(number, drawn)| RenderedMessage::new(state, format!("alert {number}"), &drawn)).collect()
}

/// Returns the card of a question at a moment.
pub(in crate::bot) fn card_of(
    state: &State,
    approval: &str,
    context: &RenderContext,
    now: Timestamp,
) -> Option<RenderedMessage> {
    let drawn = card(state, approval, context, now)?;
    Some(RenderedMessage::new(state, Delivered::card_of(approval), &drawn))
}

/// Returns the card of a question that neither the store nor the ledger knows any more.
pub(in crate::bot) fn lost_card(session: &SessionId, approval: &str) -> Message {
    let text = format!(
        "Lost: the store no longer knows this question, so no answer counts here. Whether its command ran is not known: the audit \
         of session {session} holds every run. Look at the target before you ask again."
    );
    let fields = [("session", session.as_str()), ("what", &Delivered::card_of(approval))];
    Message::text(text).with_metadata(METADATA, &fields)
}

/// Returns what surrounds a session.
pub(in crate::bot) fn context(state: &State, frozen: Option<&Freeze>) -> RenderContext {
    let frozen = frozen.map(|freeze| Frozen {
        by: freeze.who.clone(),
        at: freeze.since.parse().unwrap_or(state.last_at),
        reason: freeze.why.clone(),
    });
    RenderContext { people: people(state, frozen.as_ref()), frozen, ..RenderContext::default() }
}

/// Collects everybody whom the ledger names. Slack vouched for them when they came.
fn people(state: &State, frozen: Option<&Frozen>) -> People {
    let mut all = People::new();
    let mut add = |who: &str| {
        all = std::mem::take(&mut all).with(who, Person::Member(who.to_owned()));
    };
    add(&state.opened.requester);
    for approval in state.approvals.values() {
        approval.votes.iter().for_each(|vote| add(&vote.who));
        if let Some(ghost_investigate::state::Ending::Decided { who, .. }) = &approval.ending {
            add(who);
        }
    }
    state.end_request.iter().for_each(|(who, _)| add(who));
    frozen.iter().for_each(|frozen| add(&frozen.by));
    all
}

/// Writes where something stands.
pub(super) fn place(posted: &Posted) -> String {
    format!("{}/{}", posted.channel, posted.ts)
}

/// Reads where something stands.
pub(in crate::bot) fn posted(place: &str) -> Option<Posted> {
    let (channel, ts) = place.split_once('/')?;
    Some(Posted { channel: channel.to_owned(), ts: ts.to_owned() })
}

/// Returns the line about a session that every replica can read.
pub(super) fn line(state: &State) -> String {
    let summary = ghost_investigate::report::Summary::of(state);
    // A request from outside has no thread of its own that somebody could join.
    let thread = match (&state.opened.origin.thread, &state.opened.alert) {
        (None, Some(_)) => Thread::of_state(state).map(|thread| thread.ts),
        (thread, _) => thread.clone(),
    };
    json!({"summary": summary, "channel": state.opened.origin.channel, "thread": thread,
        "requester": state.opened.requester, "memory": Memory::of(state),
        "usage": Usage::of(state)})
    .to_string()
}
