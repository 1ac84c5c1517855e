//! Conversations and their messages as data, and how they look.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::state::user::set;
use ghost_base::Timestamp;

/// What kind of conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Open to every full member.
    Public,
    /// For those who were invited.
    Private,
    /// Between two.
    Im,
    /// Between several.
    Mpim,
}

impl Kind {
    /// The word in `channel_type` of events.
    pub(crate) fn channel_type(self) -> &'static str {
        match self {
            Self::Public => "channel",
            Self::Private => "group",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }

    /// The word in `types` of `conversations.list`.
    pub(crate) fn listed(self) -> &'static str {
        match self {
            Self::Public => "public_channel",
            Self::Private => "private_channel",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }

    /// The first part of the scopes that open it.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Public => "channels",
            Self::Private => "groups",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }
}

/// A conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) creator: String,
    pub(crate) created: i64,
    pub(crate) topic: String,
    pub(crate) purpose: String,
    /// Whether another organization takes part.
    pub(crate) shared: bool,
    pub(crate) archived: bool,
    pub(crate) members: BTreeSet<String>,
    pub(crate) messages: BTreeMap<String, Message>,
    /// The last name given to a message, in microseconds.
    pub(crate) last: i64,
    /// About how many bytes the messages hold.
    #[serde(default)]
    pub(crate) weight: usize,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) ts: String,
    pub(crate) user: String,
    pub(crate) app: Option<String>,
    pub(crate) subtype: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) text: String,
    pub(crate) blocks: Option<Value>,
    pub(crate) attachments: Option<Value>,
    pub(crate) thread_ts: Option<String>,
    pub(crate) broadcast: bool,
    pub(crate) metadata: Option<Value>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) files: Vec<String>,
    /// Who alone sees it.
    pub(crate) only_for: Option<String>,
    /// Whether Slack shows it to nobody: a private message below one without answers.
    #[serde(default)]
    pub(crate) unseen: bool,
    /// What another client or an integration sent, in Slack's own form: it stands over everything else.
    #[serde(default)]
    pub(crate) raw: Option<Value>,
    /// Who edited it, and when.
    pub(crate) edited: Option<(String, String)>,
    pub(crate) tombstone: bool,
    pub(crate) replies: Vec<(String, String)>,
    pub(crate) stream: Option<Stream>,
}

/// An emoji and who put it there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) name: String,
    pub(crate) users: Vec<String>,
}

/// A message that is still being written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stream {
    pub(crate) started: i64,
    pub(crate) open: bool,
    pub(crate) plan: Option<String>,
    pub(crate) plan_mode: bool,
    /// What was appended, in order; a task keeps its place.
    pub(crate) parts: Vec<Value>,
    pub(crate) bytes: usize,
}

impl Channel {
    /// Makes a conversation in which nobody is and nothing was said.
    pub(crate) fn new(id: &str, name: &str, kind: Kind, creator: &str, created: i64) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
            creator: creator.to_owned(),
            created,
            topic: String::new(),
            purpose: String::new(),
            shared: false,
            archived: false,
            members: BTreeSet::new(),
            messages: BTreeMap::new(),
            last: 0,
            weight: 0,
        }
    }

    /// Keeps a message under its name, in place of the one that had it.
    pub(crate) fn put(&mut self, message: Message) {
        self.weight += message.weight();
        if let Some(old) = self.messages.insert(message.ts.clone(), message) {
            self.weight = self.weight.saturating_sub(old.weight());
        }
    }

    /// Takes a message out.
    pub(crate) fn take(&mut self, ts: &str) -> Option<Message> {
        let message = self.messages.remove(ts)?;
        self.weight = self.weight.saturating_sub(message.weight());
        Some(message)
    }

    /// Names the next message: the present moment, or the first free name after it.
    pub(crate) fn next_ts(&mut self, now: Timestamp) -> String {
        let micros = now.as_millis().saturating_mul(1000);
        self.last = if micros > self.last { micros } else { self.last + 1 };
        format!("{}.{:06}", self.last.div_euclid(1_000_000), self.last.rem_euclid(1_000_000))
    }

    /// Whether it is the one that nobody can leave.
    pub(crate) fn is_general(&self) -> bool {
        self.kind == Kind::Public && self.name == "general"
    }

    /// Returns the messages of the channel itself that everybody sees, the oldest first.
    pub(crate) fn top(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.values().filter(|message| {
            let inside = message.thread_ts.as_ref().is_some_and(|root| *root != message.ts);
            message.only_for.is_none() && (!inside || message.broadcast)
        })
    }

    /// Returns a thread with its root, the oldest first.
    pub(crate) fn thread<'a>(&'a self, root: &'a str) -> impl DoubleEndedIterator<Item = &'a Message> {
        self.messages
            .range(root.to_owned()..)
            .map(|(_, message)| message)
            .filter(move |message| message.ts == root || message.thread_ts.as_deref() == Some(root))
    }

    /// The conversation in Slack's form, as `reader` sees it.
    pub(crate) fn form(&self, team: &str, partner: &str, reader: &str) -> Value {
        let member = self.members.contains(reader);
        if self.kind == Kind::Im {
            let other = self.members.iter().find(|id| *id != reader).or_else(|| self.members.first());
            return json!({
                "id": self.id, "created": self.created, "is_archived": false, "is_im": true,
                "is_org_shared": false, "context_team_id": team, "updated": self.created * 1000, "user": other,
                "is_user_deleted": false, "is_open": true, "priority": 0, "last_read": "0000000000.000000",
            });
        }
        let note = |text: &str| json!({"value": text, "creator": if text.is_empty() { "" } else { &self.creator }, "last_set": if text.is_empty() { 0 } else { self.created }});
        let mut form = json!({
            "id": self.id, "name": self.name, "name_normalized": self.name, "is_channel": self.kind == Kind::Public,
            "is_group": self.kind == Kind::Private, "is_im": false, "is_mpim": self.kind == Kind::Mpim,
            "is_private": self.kind != Kind::Public, "created": self.created, "creator": self.creator,
            "is_archived": self.archived, "is_general": self.is_general(), "unlinked": 0, "is_shared": self.shared,
            "is_org_shared": false, "is_ext_shared": self.shared, "is_pending_ext_shared": false, "pending_shared": [],
            "pending_connected_team_ids": [], "parent_conversation": null, "context_team_id": team,
            "updated": self.created * 1000, "is_member": member, "topic": note(&self.topic),
            "purpose": note(&self.purpose), "previous_names": [],
            "shared_team_ids": if self.shared { vec![team, partner] } else { vec![team] },
            "num_members": self.members.len(),
        });
        if self.shared {
            set(&mut form, "connected_team_ids", json!([partner]));
        }
        form
    }
}

impl Message {
    /// About how many bytes it holds.
    fn weight(&self) -> usize {
        const EACH: usize = 256;
        let parts = [&self.blocks, &self.attachments, &self.metadata, &self.raw];
        let parts: usize = parts.into_iter().flatten().map(size).sum();
        let streamed: usize = self.stream.iter().flat_map(|stream| &stream.parts).map(size).sum();
        EACH + self.text.len() + parts + streamed
    }

    /// Whether it belongs into a thread below another message.
    pub(crate) fn is_reply(&self) -> bool {
        self.thread_ts.as_ref().is_some_and(|root| *root != self.ts)
    }
}

/// About how many bytes a value holds.
fn size(value: &Value) -> usize {
    const EACH: usize = 24;
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(name, value)| name.len() + EACH + size(value)).sum(),
    };
    EACH + inside
}
