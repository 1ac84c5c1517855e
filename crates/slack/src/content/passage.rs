//! The passages of a message.

use crate::arrive::IncomingMessage;
use crate::content::attachment::read_attachments;
use crate::content::block::blocks_text;
use crate::content::file::read_files;
use crate::content::same::merged;
use crate::content::table::tables;

/// At most this many passages of one message are read. Slack allows 100 attachments; nobody reads more than a few.
const MAX_PASSAGES: usize = 40;

/// What can be read in a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Content {
    /// In the order in which a person reads them.
    pub passages: Vec<Passage>,
    /// What is there and cannot be read from the message alone.
    pub unread: Vec<Unread>,
}

/// Words that stand together, in Slack's markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub kind: PassageKind,
    pub text: String,
}

/// Where in a message a passage stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassageKind {
    /// What the author wrote.
    Words,
    /// A table, one row a line.
    Table,
    /// A message of somebody else that the author forwarded, or that a link shows.
    Forwarded(Origin),
    /// A card of a program, as alerts are.
    Card,
    /// What Slack shows of a web page that the words link to.
    Preview,
    /// The text of a file that Slack shows in the message.
    Snippet {
        name: String,
        /// Whether the file goes on behind it.
        is_cut: bool,
    },
}

/// Who wrote a forwarded message, as far as Slack says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The person's id.
    pub user: Option<String>,
    /// The name that is shown.
    pub name: Option<String>,
    /// Whether a program wrote it.
    pub is_bot: bool,
    pub channel: Option<String>,
    pub ts: Option<String>,
}

/// Something in a message that is no text, or whose text is elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A picture, a recording or a film.
    Picture { name: String },
    /// A text file whose whole text needs `files:read`.
    Text {
        name: String,
        id: String,
        url: Option<String>,
        size: u64,
        /// Whether its beginning is in the message.
        is_begun: bool,
    },
    /// A file of another kind.
    Other { name: String },
    /// A file that another organization shares; Slack only names it.
    Elsewhere { name: String },
}

impl Content {
    /// Reads a message.
    #[must_use]
    pub fn of(message: &IncomingMessage) -> Self {
        let mut content = Self::default();
        let words = merged(&message.text, &blocks_text(&message.blocks));
        content.add(PassageKind::Words, words);
        for table in tables(&message.blocks) {
            content.add(PassageKind::Table, table);
        }
        read_attachments(&message.attachments, 0, &mut content);
        read_files(&message.files, &mut content);
        content
    }

    /// Adds a passage, unless it says nothing, or what another one says already.
    pub(super) fn add(&mut self, kind: PassageKind, text: String) {
        let text = text.trim();
        let known = |known: &Passage| crate::content::same::holds(&known.text, text);
        if text.is_empty() || self.passages.len() >= MAX_PASSAGES || self.passages.iter().any(known) {
            return;
        }
        self.passages.push(Passage { kind, text: text.to_owned() });
    }

    /// Returns what the author wrote, without what others wrote.
    #[must_use]
    pub fn words(&self) -> &str {
        let own = self.passages.iter().find(|passage| passage.kind == PassageKind::Words);
        own.map_or("", |passage| passage.text.as_str())
    }

    /// Returns everything that can be read, in order.
    #[must_use]
    pub fn text(&self) -> String {
        self.passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}
