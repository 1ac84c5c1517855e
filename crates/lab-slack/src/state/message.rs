//! Posting, editing and deleting messages, and their documents.

use ghost_base::Timestamp;
use serde_json::{Value, json};

use crate::block::{Content, Method, accept_message};
use crate::state::args::Args;
use crate::state::block::{fill, fill_attachments};
use crate::state::channel::{Channel, Kind, Message};
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, stamp, text_of};
use crate::state::user::set;

/// Gives what can be pressed in a message the names that it lacks.
fn dressed(message: &mut Message, workspace: &mut Workspace) {
    if let Some(blocks) = &mut message.blocks {
        fill(blocks, workspace);
    }
    if let Some(attachments) = &mut message.attachments {
        fill_attachments(attachments, workspace);
    }
}

impl Workspace {
    /// Puts a message into a conversation, tells everybody, and returns its name.
    pub(crate) fn post(
        &mut self,
        channel: &str,
        mut message: Message,
        now: Timestamp,
    ) -> Result<String, SlackError> {
        dressed(&mut message, self);
        let place = self.channel_mut(channel)?;
        if let Some(root) = &message.thread_ts {
            let there = place.messages.get(root).filter(|root| root.only_for.is_none());
            let there = there.ok_or_else(|| SlackError::new("thread_not_found"))?;
            // A reply to a reply goes below the root of both.
            if let Some(above) = there.thread_ts.clone().filter(|_| there.is_reply()) {
                message.thread_ts = Some(above);
            }
        }
        // A private message of a thread is shown only if the thread has answers.
        if message.only_for.is_some() {
            let root = message.thread_ts.as_ref().and_then(|root| place.messages.get(root));
            message.unseen = root.is_some_and(|root| root.replies.is_empty());
        }
        message.ts = place.next_ts(now);
        let ts = message.ts.clone();
        if message.only_for.is_none()
            && let Some(root) = message.thread_ts.as_ref().and_then(|root| place.messages.get_mut(root))
        {
            root.replies.push((ts.clone(), message.user.clone()));
        }
        place.put(message);
        self.make_room();
        self.posted(channel, &ts, now);
        Ok(ts)
    }

    /// Tells that a message is there.
    fn posted(&mut self, channel: &str, ts: &str, now: Timestamp) {
        let Ok((place, message)) = self.at(channel, ts) else { return };
        let (kind, only_for, message) = (place.kind, message.only_for.clone(), message.clone());
        self.changed(channel, &message);
        if only_for.is_some() {
            return;
        }
        let mut event = self.look(&message, true);
        set(&mut event, "channel", json!(channel));
        set(&mut event, "event_ts", json!(ts));
        set(&mut event, "channel_type", json!(kind.channel_type()));
        self.notify_members(channel, &event, now);
        self.mentioned(channel, &message, kind, &event, now);
    }

    /// Sends `app_mention` to every app that the message names, outside of direct messages.
    fn mentioned(&mut self, channel: &str, message: &Message, kind: Kind, event: &Value, now: Timestamp) {
        let members = match self.channels.get(channel) {
            Some(place) => place.members.clone(),
            None => return,
        };
        let named: Vec<String> = self
            .apps
            .iter()
            .filter(|app| message.user != app.bot_user && members.contains(&app.bot_user))
            .filter(|app| {
                let rich = message.raw.as_ref().is_some_and(|raw| names(raw, &app.bot_user));
                rich || message.text.contains(&format!("<@{}>", app.bot_user))
                    || message.text.contains(&format!("<@{}|", app.bot_user))
            })
            .map(|app| app.id.clone())
            .collect();
        if kind == Kind::Im {
            return;
        }
        let mut event = event.clone();
        set(&mut event, "type", json!("app_mention"));
        if let Some(map) = event.as_object_mut() {
            map.remove("channel_type");
            map.remove("subtype");
        }
        for app in named {
            self.notify_app(&app, event.clone(), now);
        }
    }

    fn mention_again(&mut self, channel: &str, message: &Message, now: Timestamp) {
        let Ok(kind) = self.channel(channel).map(|place| place.kind) else { return };
        let mut event = self.look(message, true);
        set(&mut event, "channel", json!(channel));
        set(&mut event, "event_ts", json!(message.ts));
        self.mentioned(channel, message, kind, &event, now);
    }

    /// Tells a page that a message is new or different.
    pub(crate) fn changed(&mut self, channel: &str, message: &Message) {
        let notice = Notice::of("message")
            .in_channel(channel)
            .at(&message.ts, message.thread_ts.as_deref())
            .only_for(message.only_for.as_deref());
        self.notice(notice);
    }

    /// Replaces a message by what `edit` makes of it, and tells everybody.
    pub(crate) fn edit(
        &mut self,
        channel: &str,
        ts: &str,
        now: Timestamp,
        edit: impl FnOnce(&mut Message),
    ) -> Result<(), SlackError> {
        let (_, before) = self.at(channel, ts)?;
        let before = before.clone();
        let mut after = before.clone();
        edit(&mut after);
        dressed(&mut after, self);
        self.channel_mut(channel)?.put(after.clone());
        self.make_room();
        self.changed(channel, &after);
        if after.only_for.is_none() {
            self.notify_change(channel, &before, &after, now);
            // A mention that a person edits is fired again, under another name.
            if after.edited.is_some() && after.edited != before.edited && after.app.is_none() {
                self.mention_again(channel, &after, now);
            }
        }
        Ok(())
    }

    fn notify_change(&mut self, channel: &str, before: &Message, after: &Message, now: Timestamp) {
        let Ok(place) = self.channel(channel) else { return };
        let (name, kind) = (place.id.clone(), place.kind.channel_type());
        let event_ts = self.moment(channel, now);
        let event = json!({
            "type": "message", "subtype": "message_changed", "hidden": true, "channel": name, "ts": event_ts,
            "event_ts": event_ts, "channel_type": kind, "message": self.look(after, true),
            "previous_message": self.look(before, true),
        });
        self.notify_members(channel, &event, now);
    }

    /// Takes a message away. A root with replies leaves a stone behind.
    pub(crate) fn remove(&mut self, channel: &str, ts: &str, now: Timestamp) -> Result<(), SlackError> {
        let (place, message) = self.at(channel, ts)?;
        let (kind, message) = (place.kind.channel_type(), message.clone());
        if !message.replies.is_empty() {
            return self.edit(channel, ts, now, |message| {
                message.tombstone = true;
                message.user = "USLACKBOT".to_owned();
                message.text = "This message was deleted.".to_owned();
                (message.blocks, message.attachments, message.metadata, message.app) =
                    (None, None, None, None);
                message.files.clear();
                message.reactions.clear();
            });
        }
        let place = self.channel_mut(channel)?;
        place.take(ts);
        if let Some(root) = message.thread_ts.as_ref().and_then(|root| place.messages.get_mut(root)) {
            root.replies.retain(|(reply, _)| reply != ts);
        }
        self.changed(channel, &message);
        if message.only_for.is_none() {
            let event_ts = self.moment(channel, now);
            let event = json!({
                "type": "message", "subtype": "message_deleted", "hidden": true, "channel": channel,
                "ts": event_ts, "event_ts": event_ts, "deleted_ts": ts, "channel_type": kind,
                "previous_message": self.look(&message, true),
            });
            self.notify_members(channel, &event, now);
        }
        Ok(())
    }

    /// Names the moment of an event that is no message; the name is taken from the same row.
    fn moment(&mut self, channel: &str, now: Timestamp) -> String {
        self.channel_mut(channel).map_or_else(|_| stamp(now), |place| place.next_ts(now))
    }

    /// Finds a message.
    pub(crate) fn at(&self, channel: &str, ts: &str) -> Result<(&Channel, &Message), SlackError> {
        let place = self.channel(channel)?;
        let message = place.messages.get(ts).ok_or_else(|| SlackError::new("message_not_found"))?;
        Ok((place, message))
    }

    /// The document of a message in a list, an event or an interaction.
    pub(crate) fn look(&self, message: &Message, with_metadata: bool) -> Value {
        let mut look =
            json!({"type": "message", "user": message.user, "text": message.text, "ts": message.ts});
        let mut put = |name: &str, value: Value| set(&mut look, name, value);
        if message.tombstone {
            put("subtype", json!("tombstone"));
            put("hidden", json!(true));
        } else if let Some(subtype) = &message.subtype {
            put("subtype", json!(subtype));
        }
        if let Some(user) = self.users.get(&message.user) {
            put("team", json!(user.team));
            if user.team != self.team.id {
                put("user_team", json!(user.team));
                put("source_team", json!(user.team));
            }
        }
        if let Some(app) = message.app.as_ref().and_then(|id| self.app(id).ok()) {
            put("bot_id", json!(app.bot_id));
            put("app_id", json!(app.id));
            put("bot_profile", app.profile(&self.team.id));
        }
        for (name, value) in [("blocks", &message.blocks), ("attachments", &message.attachments)] {
            if let Some(value) = value {
                put(name, value.clone());
            }
        }
        if let Some(username) = &message.username {
            put("username", json!(username));
        }
        if let Some((user, ts)) = &message.edited {
            put("edited", json!({"user": user, "ts": ts}));
        }
        if !message.files.is_empty() {
            let files = message.files.iter().filter_map(|id| self.files.get(id));
            put("files", files.map(|file| file.form(self)).collect());
            put("upload", json!(false));
        }
        if with_metadata && let Some(metadata) = &message.metadata {
            put("metadata", metadata.clone());
        }
        if !message.reactions.is_empty() {
            let reactions = message.reactions.iter();
            put(
                "reactions",
                reactions
                    .map(|one| json!({"name": one.name, "users": one.users, "count": one.users.len()}))
                    .collect(),
            );
        }
        if message.only_for.is_some() {
            put("is_ephemeral", json!(true));
        }
        if let Some(stream) = &message.stream {
            put("streaming_state", json!(if stream.open { "in_progress" } else { "completed" }));
        }
        self.look_thread(message, &mut look);
        if let Some(raw) = message.raw.as_ref().and_then(Value::as_object).filter(|_| !message.tombstone) {
            for (name, value) in raw {
                set(&mut look, name, value.clone());
            }
            set(&mut look, "ts", json!(message.ts));
        }
        look
    }

    fn look_thread(&self, message: &Message, look: &mut Value) {
        if let Some(root) = &message.thread_ts {
            set(look, "thread_ts", json!(root));
        }
        let Some((latest, _)) = message.replies.last() else { return };
        let mut users: Vec<&String> = Vec::new();
        for (_, user) in &message.replies {
            if !users.contains(&user) {
                users.push(user);
            }
        }
        set(look, "thread_ts", json!(message.ts));
        set(look, "reply_count", json!(message.replies.len()));
        set(look, "reply_users_count", json!(users.len()));
        set(look, "latest_reply", json!(latest));
        set(look, "reply_users", json!(users));
        set(look, "is_locked", json!(false));
        set(look, "subscribed", json!(true));
    }
}

/// Tells whether the rich text of a message mentions a user.
fn names(message: &Value, user: &str) -> bool {
    match message {
        Value::Object(map) => {
            map.get("type").and_then(Value::as_str) == Some("user")
                && map.get("user_id").and_then(Value::as_str) == Some(user)
                || map.get("blocks").is_some_and(|blocks| names(blocks, user))
                || map.get("elements").is_some_and(|elements| names(elements, user))
        }
        Value::Array(list) => list.iter().any(|inner| names(inner, user)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The parts of a message that was judged.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) blocks: Option<Value>,
    pub(crate) attachments: Option<Value>,
    pub(crate) metadata: Option<Value>,
    /// What the answer says beside its yes, where the text was cut.
    pub(crate) warning: Option<Value>,
}

/// Reads and judges the parts of a message.
pub(crate) fn body(args: &Args, method: Method) -> Result<Body, SlackError> {
    let (text, markdown) = (args.text("text"), args.text("markdown_text"));
    let blocks = args.json("blocks", "invalid_blocks_format")?;
    let attachments = args.json("attachments", "invalid_attachments")?;
    let content = Content {
        text: text.as_deref(),
        markdown_text: markdown.as_deref(),
        blocks: blocks.as_ref(),
        attachments: attachments.as_ref(),
    };
    let accepted = accept_message(content, method)?;
    let warning = accepted.warning();
    // Markdown is kept as the block that it stands for.
    let (text, blocks) = match markdown {
        Some(markdown) => {
            let block = json!([{"type": "markdown", "text": markdown}]);
            (markdown, Some(block))
        }
        None => (accepted.text, blocks),
    };
    Ok(Body { text, blocks, attachments, metadata: metadata(args)?, warning })
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

/// Keeps a list only if something is in it.
pub(crate) fn filled(list: Option<Value>) -> Option<Value> {
    list.filter(|list| list.as_array().is_some_and(|list| !list.is_empty()))
}

impl Workspace {
    /// Makes the message that an app wants to post; returns it with the warning of its answer.
    pub(crate) fn compose(&self, app: &str, args: &Args) -> Result<(Message, Option<Value>), SlackError> {
        let body = body(args, Method::Post)?;
        let thread_ts = args.text("thread_ts");
        let broadcast = thread_ts.is_some() && args.flag("reply_broadcast").unwrap_or(false);
        let message = Message {
            user: self.app(app)?.bot_user.clone(),
            app: Some(app.to_owned()),
            username: args.text("username"),
            subtype: broadcast.then(|| "thread_broadcast".to_owned()),
            text: body.text,
            blocks: filled(body.blocks),
            attachments: filled(body.attachments),
            metadata: body.metadata,
            thread_ts,
            broadcast,
            ..Message::default()
        };
        Ok((message, body.warning))
    }
}
