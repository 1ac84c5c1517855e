//! A message that somebody wrote.

use serde_json::Value;

use crate::arrive::field::{at, flag, items, number, said, text};
use crate::content::Content;

/// In what kind of conversation something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationKind {
    /// A public channel.
    Channel,
    /// A private channel.
    Group,
    /// A direct conversation of two.
    Im,
    /// A direct conversation of several.
    Mpim,
    /// Slack did not say, and the id does not tell either.
    Unknown,
}

impl ConversationKind {
    /// Reads what Slack calls it; where it says nothing, the first letter of the id tells a direct conversation.
    pub(crate) fn read(word: &str, channel: &str) -> Self {
        match word {
            "channel" | "C" => Self::Channel,
            "group" | "G" | "privategroup" => Self::Group,
            "im" | "D" | "directmessage" => Self::Im,
            "mpim" => Self::Mpim,
            _ if channel.starts_with('D') => Self::Im,
            _ => Self::Unknown,
        }
    }
}

/// Who wrote it, where an app did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// The bot, `B…`.
    pub bot: Option<String>,
    /// The app, `A…`.
    pub app: Option<String>,
    /// The name that it shows.
    pub name: Option<String>,
}

/// A file that a message shares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attached {
    /// The file, `F…`.
    pub id: String,
    pub name: String,
    /// Its media type.
    pub media: String,
    /// How many bytes it has.
    pub size: u64,
    /// Where its bytes are, for whoever has a token.
    pub url: Option<String>,
    /// `snippet`, `hosted`, `external`, `tombstone` and so on.
    pub mode: String,
    /// Slack's word for what it holds, such as `text` or `png`.
    pub file_type: String,
    /// `check_file_info` where another organization shares it: then nothing else is said of it.
    pub access: Option<String>,
    /// The beginning of its text, which Slack sends with the message.
    pub preview: Option<String>,
    /// Whether the text goes on behind that.
    pub is_cut: bool,
}

/// A message that somebody wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingMessage {
    /// The person, or the user of the bot; workflows and old integrations have none.
    pub user: Option<String>,
    /// The app, where one wrote it.
    pub bot: Option<Author>,
    /// The organization's workspace that the author belongs to, where it may be another than ours.
    pub user_team: Option<String>,
    /// The workspace that it was sent from.
    pub source_team: Option<String>,
    /// The words, in Slack's markup.
    pub text: String,
    /// The conversation.
    pub channel: String,
    /// What kind of conversation that is.
    pub kind: ConversationKind,
    /// The message's name in its conversation.
    pub ts: String,
    /// The root of the thread, where it is an answer or a root with answers.
    pub thread_ts: Option<String>,
    /// `bot_message`, `file_share`, `thread_broadcast` and so on.
    pub subtype: Option<String>,
    /// The files that it shares.
    pub files: Vec<Attached>,
    /// Its blocks as they came.
    pub blocks: Vec<Value>,
    /// Its attachments as they came.
    pub attachments: Vec<Value>,
    pub metadata_type: Option<String>,
    /// The payload of its metadata, of whatever type, else null.
    pub metadata: Value,
    /// Whether Slack hides it: such a message was not said to anybody.
    pub hidden: bool,
    /// When its author changed it last; Slack fires a mention again then.
    pub edited: Option<String>,
}

impl IncomingMessage {
    /// Reads a message, or an event about one. `around` is what holds it: there the conversation stands, too.
    pub(crate) fn read(message: &Value, around: &Value) -> Self {
        let either = |name: &str| text(message, &[name]).or_else(|| text(around, &[name]));
        let channel = either("channel")
            .or_else(|| text(around, &["channel", "id"]))
            .or_else(|| text(around, &["container", "channel_id"]))
            .unwrap_or_default();
        let kind = ConversationKind::read(&either("channel_type").unwrap_or_default(), &channel);
        let user = text(message, &["user"]).or_else(|| text(message, &["user", "id"]));
        Self {
            user: user.or_else(|| text(message, &["bot_profile", "user_id"])),
            bot: author(message),
            user_team: text(message, &["user_team"]).or_else(|| text(message, &["user_profile", "team"])),
            source_team: text(message, &["source_team"]).or_else(|| text(message, &["team"])),
            text: said(message, &["text"]),
            kind,
            ts: text(message, &["ts"])
                .or_else(|| text(message, &["event_ts"]))
                .or_else(|| text(around, &["message_ts"]))
                .unwrap_or_default(),
            thread_ts: text(message, &["thread_ts"]),
            subtype: text(message, &["subtype"]),
            files: items(message, &["files"]).iter().map(attached).collect(),
            blocks: items(message, &["blocks"]).to_vec(),
            attachments: items(message, &["attachments"]).to_vec(),
            metadata_type: text(message, &["metadata", "event_type"]),
            metadata: at(message, &["metadata", "event_payload"]).cloned().unwrap_or(Value::Null),
            hidden: flag(message, &["hidden"]),
            edited: text(message, &["edited", "ts"]),
            channel,
        }
    }

    /// Returns the root of the thread that an answer to it belongs to.
    #[must_use]
    pub fn root(&self) -> &str {
        self.thread_ts.as_deref().unwrap_or(&self.ts)
    }

    /// Tells whether it was said in a thread, below a root.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.thread_ts.as_ref().is_some_and(|root| *root != self.ts)
    }

    /// Tells whether somebody said something, in place of joining, leaving or renaming.
    #[must_use]
    pub fn is_speech(&self) -> bool {
        let spoken = ["bot_message", "file_share", "me_message", "thread_broadcast", "assistant_app_thread"];
        !self.hidden && self.subtype.as_deref().is_none_or(|subtype| spoken.contains(&subtype))
    }

    /// Returns everything that can be read in it. Alert bots often leave the text empty and say it in attachments or blocks.
    #[must_use]
    pub fn everything(&self) -> String {
        Content::of(self).text()
    }
}

fn author(message: &Value) -> Option<Author> {
    let author = Author {
        bot: text(message, &["bot_id"]).or_else(|| text(message, &["bot_profile", "id"])),
        app: text(message, &["app_id"]).or_else(|| text(message, &["bot_profile", "app_id"])),
        name: text(message, &["username"]).or_else(|| text(message, &["bot_profile", "name"])),
    };
    // A person's client may name the app through which was written; only a bot makes it a bot's.
    let is_bot = author.bot.is_some() || text(message, &["subtype"]).as_deref() == Some("bot_message");
    is_bot.then_some(author)
}

/// Reads what a message says about a file.
pub(crate) fn attached(file: &Value) -> Attached {
    let preview =
        ["plain_text", "preview_plain_text", "preview"].into_iter().find_map(|name| text(file, &[name]));
    let is_markup = said(file, &["mode"]) == "space" || said(file, &["mode"]) == "quip";
    Attached {
        id: said(file, &["id"]),
        name: text(file, &["name"]).or_else(|| text(file, &["title"])).unwrap_or_default(),
        media: said(file, &["mimetype"]),
        size: number(file, &["size"]).unwrap_or(0),
        url: text(file, &["url_private_download"]).or_else(|| text(file, &["url_private"])),
        mode: said(file, &["mode"]),
        file_type: said(file, &["filetype"]),
        access: text(file, &["file_access"]).filter(|access| access != "visible"),
        preview: preview.filter(|_| !is_markup),
        is_cut: flag(file, &["preview_is_truncated"])
            || number(file, &["lines_more"]).is_some_and(|more| more > 0),
    }
}
