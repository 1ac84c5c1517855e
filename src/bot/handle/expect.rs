//! What teams switch on: an emoji that has a message investigated, and incident channels that Ghost joins by their names.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use crate::bot::core::Core;
use crate::bot::handle::speech::thread_of;
use ghost_slack::arrive::{Author, ConversationKind, IncomingMessage, Origin, Reaction};
use ghost_slack::pace::Priority;
use ghost_slack::socket::Answer;
use ghost_store::StoreError;

impl Core {
    /// Takes an emoji on a message: the configured one has the message investigated, as a mention below it would.
    pub(super) async fn reacted(
        self: &Arc<Self>,
        origin: &Origin,
        reaction: &Reaction,
    ) -> Result<Answer, StoreError> {
        let is_start = self.settings.start_emoji.as_deref() == Some(reaction.name.as_str());
        // The bot marks messages with emoji of its own.
        if !is_start || reaction.removed || reaction.user == self.directory.identity().user {
            return Ok(Answer::Done);
        }
        let web = self.web.at(Priority::Approval);
        let found = match web.message(&reaction.channel, &reaction.ts, None).await {
            Ok(Some(message)) => Some(message),
            // A message within a thread is found as a thread.
            Ok(None) => web
                .newest(&reaction.channel, &reaction.ts, None, 1)
                .await
                .ok()
                .and_then(|(messages, _)| messages.into_iter().find(|message| message.ts == reaction.ts)),
            Err(error) => {
                tracing::warn!("message of a reaction not read: {error}");
                None
            }
        };
        let Some(message) = found else { return Ok(Answer::Done) };
        let thread = thread_of(origin, &reaction.channel, message.root());
        if self.is_known(&self.session_of(&thread).await?).await? {
            return Ok(Answer::Done);
        }
        let asked = pointing_at(&message, &reaction.user);
        // Nobody wrote a message there that could be marked as seen.
        let place = (asked.channel.clone(), asked.ts.clone());
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).insert(place);
        self.spoken(origin, &asked, "", true).await
    }

    /// Takes the event that a channel was created: one whose name is configured is joined.
    pub(super) fn channel_created(self: &Arc<Self>, body: &Value) {
        let field = |name: &str| {
            let channel = body.get("event").unwrap_or(body).get("channel");
            channel
                .and_then(|channel| channel.get(name))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (id, name) = (field("id"), field("name"));
        if id.is_empty() || !self.settings.joins(&name) {
            return;
        }
        let web = self.web.at(Priority::Other);
        self.spawn(async move {
            match web.call("conversations.join", &json!({"channel": id})).await {
                Ok(_) => tracing::info!(slack.channel = %id, "channel #{name} joined by its name"),
                Err(error) => tracing::warn!(slack.channel = %id, "channel #{name} not joined: {error}"),
            }
        });
    }
}

/// Returns a message without words that stands right behind another one, as if somebody had mentioned the bot there.
fn pointing_at(message: &IncomingMessage, user: &str) -> IncomingMessage {
    let behind = message.ts.split_once('.').and_then(|(seconds, micros)| {
        let micros = micros.parse::<u32>().ok()?.checked_add(1)?;
        Some(format!("{seconds}.{micros:06}"))
    });
    IncomingMessage {
        user: Some(user.to_owned()),
        bot: None::<Author>,
        user_team: None,
        source_team: None,
        text: String::new(),
        channel: message.channel.clone(),
        kind: ConversationKind::Unknown,
        ts: behind.unwrap_or_else(|| message.ts.clone()),
        thread_ts: Some(message.root().to_owned()),
        subtype: None,
        files: Vec::new(),
        blocks: Vec::new(),
        attachments: Vec::new(),
        metadata_type: None,
        metadata: Value::Null,
        hidden: false,
        edited: None,
    }
}
