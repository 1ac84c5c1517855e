//! `chat.*`: what an app says, changes and takes back.

use serde_json::{Value, json};

use crate::base::Timestamp;
use crate::lab::workspace::state::args::Args;
use crate::lab::workspace::state::block::check_message;
use crate::lab::workspace::state::channel::{Kind, Message};
use crate::lab::workspace::state::error::SlackError;
use crate::lab::workspace::state::model::{Workspace, stamp, text_of};
use crate::lab::workspace::state::user::set;

/// Where Slack cuts a text.
const CUT: usize = 40_000;
/// How long the text of an edit may be.
const LONGEST_EDIT: usize = 4_000;
/// How long a text in markdown may be.
const LONGEST_MARKDOWN: usize = 12_000;

/// What a message is made of, and whether its text was cut.
struct Body {
    text: String,
    cut: bool,
    blocks: Option<Value>,
    attachments: Option<Value>,
    metadata: Option<Value>,
}

fn body(args: &Args) -> Result<Body, SlackError> {
    let mut text = args.text("text").unwrap_or_default();
    let cut = text.chars().count() > CUT;
    if cut {
        text = text.chars().take(CUT).collect();
    }
    let mut blocks = args.json("blocks", "invalid_blocks_format")?;
    if let Some(markdown) = args.text("markdown_text") {
        if blocks.is_some() || !text.is_empty() {
            return Err(SlackError::new("markdown_text_conflict"));
        }
        if markdown.chars().count() > LONGEST_MARKDOWN {
            return Err(SlackError::new("msg_too_long"));
        }
        blocks = Some(json!([{"type": "markdown", "text": markdown}]));
        text = markdown;
    }
    if let Some(blocks) = &blocks {
        check_message(blocks)?;
    }
    let attachments = args.json("attachments", "invalid_attachments")?;
    if attachments.as_ref().is_some_and(|list| !list.is_array()) {
        return Err(SlackError::new("invalid_attachments"));
    }
    Ok(Body { text, cut, blocks, attachments, metadata: metadata(args)? })
}

/// Reads the metadata of a message.
pub(crate) fn metadata(args: &Args) -> Result<Option<Value>, SlackError> {
    let Some(metadata) = args.json("metadata", "invalid_metadata_format")? else { return Ok(None) };
    if text_of(&metadata, "event_type").is_empty()
        || !metadata.get("event_payload").is_some_and(Value::is_object)
    {
        return Err(SlackError::new("invalid_metadata_format"));
    }
    Ok(Some(metadata))
}

fn is_empty(list: Option<&Value>) -> bool {
    list.and_then(Value::as_array).is_none_or(Vec::is_empty)
}

impl Workspace {
    /// `chat.postMessage`
    pub(crate) fn chat_post_message(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let body = body(args)?;
        if body.text.is_empty() && is_empty(body.blocks.as_ref()) && is_empty(body.attachments.as_ref()) {
            return Err(SlackError::new("no_text"));
        }
        let thread_ts = args.text("thread_ts");
        let broadcast = thread_ts.is_some() && args.flag("reply_broadcast").unwrap_or(false);
        let cut = body.cut;
        let message = Message {
            user: self.app(app)?.bot_user.clone(),
            app: Some(app.to_owned()),
            username: args.text("username"),
            subtype: broadcast.then(|| "thread_broadcast".to_owned()),
            text: body.text,
            blocks: body.blocks.filter(|blocks| !is_empty(Some(blocks))),
            attachments: body.attachments.filter(|list| !is_empty(Some(list))),
            metadata: body.metadata,
            thread_ts,
            broadcast,
            ..Message::default()
        };
        let ts = self.post(&channel, message, now)?;
        let (_, message) = self.at(&channel, &ts)?;
        let root = message.thread_ts.clone();
        let look = self.look(message, true);
        self.spoke(app, &channel, root.as_deref());
        let mut answer = json!({"ok": true, "channel": channel, "ts": ts, "message": look});
        if cut {
            set(&mut answer, "warning", json!("message_truncated"));
            set(&mut answer, "response_metadata", json!({"warnings": ["message_truncated"]}));
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
        let body = body(args)?;
        if body.text.is_empty() && is_empty(body.blocks.as_ref()) && is_empty(body.attachments.as_ref()) {
            return Err(SlackError::new("no_text"));
        }
        let message = Message {
            user: self.app(app)?.bot_user.clone(),
            app: Some(app.to_owned()),
            text: body.text,
            blocks: body.blocks,
            attachments: body.attachments,
            thread_ts: args.text("thread_ts"),
            only_for: Some(user),
            ..Message::default()
        };
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
        let body = body(args)?;
        if body.text.chars().count() > LONGEST_EDIT && args.text("markdown_text").is_none() {
            return Err(SlackError::new("msg_too_long"));
        }
        let own = self.own_message(app, &channel, &ts, "cant_update_message")?;
        if own.stream.as_ref().is_some_and(|stream| stream.open) {
            return Err(SlackError::new("streaming_state_conflict"));
        }
        if body.text.is_empty() && body.blocks.is_none() && body.attachments.is_none() && own.files.is_empty()
        {
            return Err(SlackError::new("no_text"));
        }
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
                message.blocks = Some(blocks).filter(|blocks| !is_empty(Some(blocks)));
            }
            if let Some(attachments) = body.attachments {
                message.attachments = Some(attachments).filter(|list| !is_empty(Some(list)));
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
        self.own_message(app, &channel, &ts, "cant_delete_message")?;
        self.remove(&channel, &ts, now)?;
        Ok(json!({"ok": true, "channel": channel, "ts": ts}))
    }

    /// `chat.getPermalink`
    pub(crate) fn chat_get_permalink(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.need("message_ts")?;
        let (_, message) = self.at(&channel, &ts)?;
        let mut link = format!("{}/archives/{channel}/p{}", self.base, ts.replace('.', ""));
        if let Some(root) = message.thread_ts.as_ref().filter(|_| message.is_reply()) {
            link.push_str(&format!("?thread_ts={root}&cid={channel}"));
        }
        Ok(json!({"ok": true, "channel": channel, "permalink": link}))
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
