//! Saying, changing and taking back.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::block::SlackBlock;
use crate::content;
use crate::text::shorten;
use crate::web::call::{Body, Web};
use crate::web::error::CallError;
use crate::web::refusal::Plan;

/// Slack keeps more of a text, and shows no more of it well.
const MAX_PLAIN_CHARS: usize = 3_900;

/// Where something is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Address {
    /// The conversation; a person's id is the direct one with them.
    pub channel: String,
    /// The root of a thread.
    pub thread_ts: Option<String>,
    /// Whether an answer in a thread is shown in the channel, too.
    pub broadcast: bool,
}

impl Address {
    /// Addresses a conversation.
    #[must_use]
    pub fn channel(channel: &str) -> Self {
        Self { channel: channel.to_owned(), ..Self::default() }
    }

    /// Addresses a thread.
    #[must_use]
    pub fn thread(channel: &str, root: &str) -> Self {
        Self { channel: channel.to_owned(), thread_ts: Some(root.to_owned()), broadcast: false }
    }

    /// Shows the answer in the channel, too.
    #[must_use]
    pub fn broadcast(mut self) -> Self {
        self.broadcast = true;
        self
    }
}

/// What is said. Links in it are never unfolded, and names in it are never looked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    /// The words; with blocks they are what notifications and screen readers tell.
    pub text: String,
    pub blocks: Vec<SlackBlock>,
    /// The type and the payload of metadata, which nobody sees. Flat texts are what all clients can read.
    pub metadata: Option<(String, Map<String, Value>)>,
}

impl Message {
    /// Makes a message of words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds blocks.
    #[must_use]
    pub fn with_blocks(mut self, blocks: Vec<SlackBlock>) -> Self {
        self.blocks = blocks;
        self
    }

    /// Adds metadata of texts.
    #[must_use]
    pub fn with_metadata(mut self, kind: &str, fields: &[(&str, &str)]) -> Self {
        let payload = fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        self.metadata = Some((kind.to_owned(), payload));
        self
    }

    /// Returns the message in words alone, for a place that refuses its blocks.
    #[must_use]
    pub fn plain(&self) -> Self {
        let blocks: Vec<Value> = self.blocks.iter().map(value).collect();
        let said = content::blocks_text(&blocks);
        let text = if said.trim().is_empty() { self.text.clone() } else { said };
        let text = shorten(&text, MAX_PLAIN_CHARS);
        // Metadata finds the message again; it goes only where it was what Slack refused.
        Self { text, blocks: Vec::new(), metadata: self.metadata.clone() }
    }

    /// Tells whether Slack refused the form of a message, so that its words may still be taken. A board with a plan is drawn anew.
    fn is_refused_in_form(&self, error: &CallError) -> bool {
        let has_plan = || {
            self.blocks
                .iter()
                .map(value)
                .any(|block| block.get("type").and_then(Value::as_str) == Some("plan"))
        };
        !self.blocks.is_empty() && error.plan() == Some(Plan::Plain) && !has_plan()
    }

    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("text".to_owned(), json!(self.text));
        // An empty list is sent, too: that is how an edit removes buttons.
        fields.insert("blocks".to_owned(), value(&self.blocks));
        if let Some((kind, payload)) = &self.metadata {
            fields.insert("metadata".to_owned(), json!({"event_type": kind, "event_payload": payload}));
        }
        fields
    }
}

/// Turns blocks and views into JSON; ours have no key that is no text.
pub(crate) fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

/// A message that stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Posted {
    /// The conversation.
    pub channel: String,
    /// The message.
    pub ts: String,
}

/// What became of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// It is shown.
    Now,
    /// A newer one took its place in line; this one is never shown.
    Replaced,
}

impl Web {
    /// `chat.postMessage`
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn post(&self, to: &Address, message: &Message) -> Result<Posted, CallError> {
        match self.post_once(to, message).await {
            Err(error) if message.is_refused_in_form(&error) => {
                tracing::warn!("message posted as plain text: {error}");
                self.post_once(to, &message.plain()).await
            }
            done => done,
        }
    }

    async fn post_once(&self, to: &Address, message: &Message) -> Result<Posted, CallError> {
        let mut fields = message.fields();
        fields.insert("channel".to_owned(), json!(to.channel));
        fields.insert("unfurl_links".to_owned(), json!(false));
        fields.insert("unfurl_media".to_owned(), json!(false));
        if let Some(root) = &to.thread_ts {
            fields.insert("thread_ts".to_owned(), json!(root));
            if to.broadcast {
                fields.insert("reply_broadcast".to_owned(), json!(true));
            }
        }
        let method = "chat.postMessage";
        let answer = self.call(method, &Value::Object(fields)).await?;
        let field = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let ts = field("ts").ok_or_else(|| CallError::odd(method, "ts"))?;
        Ok(Posted { channel: field("channel").unwrap_or_else(|| to.channel.clone()), ts })
    }

    /// `chat.update`. Updates of one message go one after the other; one at the priority of boards that still waits gives its place
    /// to a newer one.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn update(&self, posted: &Posted, message: &Message) -> Result<UpdateOutcome, CallError> {
        match self.update_once(posted, message).await {
            Err(error) if message.is_refused_in_form(&error) => {
                tracing::warn!("message updated as plain text: {error}");
                self.update_once(posted, &message.plain()).await
            }
            done => done,
        }
    }

    async fn update_once(&self, posted: &Posted, message: &Message) -> Result<UpdateOutcome, CallError> {
        let mut fields = message.fields();
        fields.insert("channel".to_owned(), json!(posted.channel));
        fields.insert("ts".to_owned(), json!(posted.ts));
        let arguments = Value::Object(fields);
        let name = format!("{} {}", posted.channel, posted.ts);
        let answer = self.call_unless_replaced("chat.update", &arguments, name).await?;
        Ok(if answer.is_some() { UpdateOutcome::Now } else { UpdateOutcome::Replaced })
    }

    /// `chat.delete`
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn delete(&self, posted: &Posted) -> Result<(), CallError> {
        self.call("chat.delete", &json!({"channel": posted.channel, "ts": posted.ts})).await.map(drop)
    }

    /// `chat.postEphemeral`: only one person sees it, and it cannot be changed later. Returns its name.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn ephemeral(&self, to: &Address, user: &str, message: &Message) -> Result<String, CallError> {
        match self.ephemeral_once(to, user, message).await {
            Err(error) if message.is_refused_in_form(&error) => {
                tracing::warn!("private answer sent as plain text: {error}");
                self.ephemeral_once(to, user, &message.plain()).await
            }
            done => done,
        }
    }

    async fn ephemeral_once(&self, to: &Address, user: &str, message: &Message) -> Result<String, CallError> {
        let mut fields = message.fields();
        // Metadata is for messages that are kept.
        fields.remove("metadata");
        fields.insert("channel".to_owned(), json!(to.channel));
        fields.insert("user".to_owned(), json!(user));
        if let Some(root) = &to.thread_ts {
            fields.insert("thread_ts".to_owned(), json!(root));
        }
        let answer = self.call("chat.postEphemeral", &Value::Object(fields)).await?;
        Ok(answer.get("message_ts").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// `chat.getPermalink`
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn permalink(&self, posted: &Posted) -> Result<String, CallError> {
        let method = "chat.getPermalink";
        let answer = self.get(method, &json!({"channel": posted.channel, "message_ts": posted.ts})).await?;
        let link = answer.get("permalink").and_then(Value::as_str).map(str::to_owned);
        link.ok_or_else(|| CallError::odd(method, "permalink"))
    }

    /// `reactions.add`; one that is there already is fine.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn react(&self, posted: &Posted, emoji: &str) -> Result<(), CallError> {
        let arguments =
            json!({"channel": posted.channel, "timestamp": posted.ts, "name": emoji.trim_matches(':')});
        match self.call("reactions.add", &arguments).await {
            Err(error) if error.code() == Some("already_reacted") => Ok(()),
            done => done.map(drop),
        }
    }
}

impl Web {
    /// `reactions.remove`; one that is not there is fine.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn unreact(&self, posted: &Posted, emoji: &str) -> Result<(), CallError> {
        let arguments =
            json!({"channel": posted.channel, "timestamp": posted.ts, "name": emoji.trim_matches(':')});
        match self.call("reactions.remove", &arguments).await {
            Err(error) if error.plan() == Some(Plan::Fine) => Ok(()),
            done => done.map(drop),
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// The words.
    pub text: String,
    pub blocks: Vec<SlackBlock>,
    /// Whether everybody sees it; only the one who acted, otherwise.
    pub in_channel: bool,
    /// Whether it takes the place of the message that was acted on.
    pub replace: bool,
    /// Whether it takes that message away.
    pub delete: bool,
}

impl Response {
    /// An answer in words that only the one who acted sees.
    #[must_use]
    pub fn private(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Web {
    /// Answers through a `response_url`. No token goes there.
    ///
    /// # Errors
    /// Fails where the call does; `used_url` and `expired_url` mean that it cannot be answered there any more.
    pub async fn respond(&self, url: &str, response: &Response) -> Result<(), CallError> {
        let mut fields = Map::new();
        if response.delete {
            fields.insert("delete_original".to_owned(), json!(true));
        } else {
            let place = if response.in_channel { "in_channel" } else { "ephemeral" };
            fields.insert("response_type".to_owned(), json!(place));
            fields.insert("replace_original".to_owned(), json!(response.replace));
            fields.insert("text".to_owned(), json!(response.text));
            if !response.blocks.is_empty() {
                fields.insert("blocks".to_owned(), value(&response.blocks));
            }
        }
        self.post_to("response_url", url, Body::Json(&Value::Object(fields))).await.map(drop)
    }
}
