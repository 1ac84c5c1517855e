//! `chat.*`: what an app says, changes and takes back.

use serde_json::{Value, json};

use crate::block::Method;
use crate::state::args::Args;
use crate::state::channel::{Kind, Message};
use crate::state::error::SlackError;
use crate::state::message::{Body, body, filled};
use crate::state::model::{Workspace, stamp};
use crate::state::user::set;
use ghost_base::Timestamp;

impl Workspace {
    /// `chat.postMessage`
    pub(crate) fn chat_post_message(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let (message, warning) = self.compose(app, args)?;
        let ts = self.post(&channel, message, now)?;
        let (_, message) = self.at(&channel, &ts)?;
        let root = message.thread_ts.clone();
        let look = self.look(message, true);
        self.spoke(app, &channel, root.as_deref());
        let mut answer = json!({"ok": true, "channel": channel, "ts": ts, "message": look});
        if let Some(warning) = warning {
            set(&mut answer, "warning", json!("message_truncated"));
            set(&mut answer, "response_metadata", warning);
        }
        Ok(answer)
    }

    /// `chat.postEphemeral`
    pub(crate) fn chat_post_ephemeral(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let user = args.need("user")?;
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        if !self.channel(&channel)?.members.contains(&user) {
            return Err(SlackError::new("user_not_in_channel"));
        }
        let (message, _) = self.compose(app, args)?;
        let message =
            Message { only_for: Some(user), broadcast: false, subtype: None, metadata: None, ..message };
        let ts = self.post(&channel, message, now)?;
        Ok(json!({"ok": true, "message_ts": ts}))
    }

    /// `chat.update`
    pub(crate) fn chat_update(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let ts = args.need("ts")?;
        let own = self.own_message(app, &channel, &ts, "cant_update_message")?;
        if own.stream.as_ref().is_some_and(|stream| stream.is_open(now)) {
            return Err(SlackError::new("streaming_state_conflict"));
        }
        let body = match body(args, Method::Update) {
            // A message that holds files needs no words.
            Err(refused) if refused.code() == "no_text" && !own.files.is_empty() => Body::default(),
            body => body?,
        };
        let bot = self.app(app)?.bot_user.clone();
        let moment = stamp(now);
        self.edit(&channel, &ts, now, |message| {
            if args.0.contains_key("text") || args.0.contains_key("markdown_text") {
                message.text = body.text;
                message.edited = Some((bot, moment));
                // A new text without blocks takes the old blocks away.
                if body.blocks.is_none() {
                    message.blocks = None;
                }
            }
            if let Some(blocks) = body.blocks {
                message.blocks = filled(Some(blocks));
            }
            if let Some(attachments) = body.attachments {
                message.attachments = filled(Some(attachments));
            }
            if body.metadata.is_some() {
                message.metadata = body.metadata;
            }
        })?;
        let (_, message) = self.at(&channel, &ts)?;
        Ok(
            json!({"ok": true, "channel": channel, "ts": ts, "text": message.text, "message": self.look(message, true)}),
        )
    }

    /// `chat.delete`
    pub(crate) fn chat_delete(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let ts = args.need("ts")?;
        let own = self.own_message(app, &channel, &ts, "cant_delete_message")?;
        if own.stream.as_ref().is_some_and(|stream| stream.is_open(now)) {
            return Err(SlackError::new("cant_delete_message"));
        }
        self.remove(&channel, &ts, now)?;
        Ok(json!({"ok": true, "channel": channel, "ts": ts}))
    }

    /// `chat.getPermalink`
    pub(crate) fn chat_get_permalink(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.need("message_ts")?;
        let (_, message) = self.at(&channel, &ts)?;
        Ok(json!({"ok": true, "channel": channel, "permalink": self.permalink(&channel, message)}))
    }

    /// The address of a message.
    pub(crate) fn permalink(&self, channel: &str, message: &Message) -> String {
        let link = format!("{}/archives/{channel}/p{}", self.base, message.ts.replace('.', ""));
        match message.thread_ts.as_ref().filter(|_| message.is_reply()) {
            Some(root) => format!("{link}?thread_ts={root}&cid={channel}"),
            None => link,
        }
    }

    /// Finds a message that the app may change, because it is its own and everybody sees it.
    pub(crate) fn own_message(
        &self,
        app: &str,
        channel: &str,
        ts: &str,
        refusal: &str,
    ) -> Result<&Message, SlackError> {
        let (_, message) = self.at(channel, ts)?;
        // An ephemeral message cannot be found by its name.
        if message.only_for.is_some() || message.tombstone {
            return Err(SlackError::new("message_not_found"));
        }
        if message.app.as_deref() != Some(app) {
            return Err(SlackError::new(refusal));
        }
        Ok(message)
    }

    /// Finds where an app wants to speak: a conversation that it is in, or a person, to whom one opens.
    pub(crate) fn place_to_speak(
        &mut self,
        app: &str,
        name: &str,
        now: Timestamp,
    ) -> Result<String, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        if self.users.contains_key(name) {
            if self.user(name)?.is_bot() {
                return Err(SlackError::new("cannot_dm_bot"));
            }
            return Ok(self.direct(&[bot, name.to_owned()], now));
        }
        let bare = name.trim_start_matches('#');
        let place = self
            .channels
            .get(name)
            .or_else(|| self.channels.values().find(|each| each.kind != Kind::Im && each.name == bare))
            .ok_or_else(|| SlackError::new("channel_not_found"))?;
        if !place.members.contains(&bot) {
            let open = place.kind == Kind::Public;
            let anywhere = self.app(app)?.scopes.iter().any(|scope| scope == "chat:write.public");
            return match (open, anywhere) {
                (true, true) => Ok(place.id.clone()),
                (true, false) => Err(SlackError::new("not_in_channel")),
                (false, _) => Err(SlackError::new("channel_not_found")),
            };
        }
        if place.archived {
            return Err(SlackError::new("is_archived"));
        }
        Ok(place.id.clone())
    }
}
