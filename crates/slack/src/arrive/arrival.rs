//! The things that can arrive.

use serde_json::Value;

use crate::arrive::form::{Person, ResponseUrl, View};
use crate::arrive::message::{ConversationKind, IncomingMessage};
use crate::arrive::press::Press;

/// Something that arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    /// From where, and how often.
    pub origin: Origin,
    pub what: What,
}

/// From where something came, and how it is recognized when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The name of this happening, the same whenever Slack delivers it again: an event's own id, or a digest for a click.
    pub key: String,
    /// Which repetition this is; 0 is the first delivery. A repetition may still be the first one that got through.
    pub retry: u64,
    /// Why Slack repeats it.
    pub retry_reason: Option<String>,
    /// The workspace; an organization-wide installation may name none.
    pub team: Option<String>,
    /// The organization, on Enterprise Grid.
    pub enterprise: Option<String>,
    /// Whether the whole organization installed the app.
    pub enterprise_install: bool,
    /// Whether the channel is shared with another organization.
    pub shared: bool,
    /// Our app, `A…`.
    pub app: Option<String>,
    /// The users that an old payload says it was for.
    pub authed: Vec<String>,
    /// Whether the acknowledgement may carry an answer.
    pub accepts_payload: bool,
}

impl Origin {
    /// Tells whether it is of another workspace or another app than ours. Nothing is foreign where it does not say whose it is;
    /// an installation of a whole organization has all of its workspaces.
    #[must_use]
    pub fn is_foreign(&self, team: Option<&str>, enterprise: Option<&str>, app: Option<&str>) -> bool {
        let differs =
            |said: Option<&str>, own: Option<&str>| said.zip(own).is_some_and(|(said, own)| said != own);
        let organization =
            enterprise.is_some() && self.enterprise.as_deref() == enterprise && self.enterprise_install;
        differs(self.app.as_deref(), app) || differs(self.team.as_deref(), team) && !organization
    }
}

/// What arrived.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Somebody mentioned the app. Slack tells the same message as [`What::Message`], too, with another key.
    Mention(IncomingMessage),
    /// Somebody wrote something, in a channel, a thread or a direct conversation; also joins and the like ([`IncomingMessage::is_speech`]).
    Message(IncomingMessage),
    /// A message became another one.
    Edited(Box<Edited>),
    /// A message is gone.
    Deleted(Box<Deleted>),
    /// Somebody opened the app's page.
    HomeOpened(Home),
    /// The person views something else while talking to the app.
    ContextChanged(Context),
    /// Somebody pressed the stop button of a session.
    Stopped(Stopped),
    /// Somebody pressed, chose or typed something in a message or a view.
    Press(Box<Press>),
    /// Somebody sent off a modal.
    Submit(Box<Submit>),
    /// Somebody closed a modal without sending it.
    Closed(Box<Closed>),
    /// Somebody typed a command.
    Command(Box<Command>),
    /// Somebody used a shortcut, on a message or without one.
    Shortcut(Box<Shortcut>),
    /// A list wants to know what it may offer.
    Suggest(Box<Suggest>),
    /// Somebody came into a channel.
    Joined(Membership),
    /// Somebody left a channel.
    Left(Membership),
    /// Somebody put an emoji on a message, or took it away.
    Reaction(Reaction),
    /// Something that has no name here.
    Other {
        /// What Slack calls it; empty where it does not say.
        kind: String,
        /// All of it.
        body: Value,
    },
}

/// A message became another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    pub now: IncomingMessage,
    /// As it was, where Slack says.
    pub before: Option<IncomingMessage>,
}

/// A message is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Deleted {
    /// The conversation.
    pub channel: String,
    /// The message.
    pub ts: String,
    /// The root of its thread.
    pub thread_ts: Option<String>,
    /// As it was, where Slack says.
    pub before: Option<IncomingMessage>,
}

/// Somebody opened the app's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    pub user: String,
    /// `home`, `messages` or `about`.
    pub tab: String,
    /// The direct conversation with the app.
    pub channel: Option<String>,
    /// What is published there now.
    pub view: Option<View>,
}

/// The person views something else while talking to the app.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    pub user: String,
    /// The direct conversation with the app.
    pub channel: Option<String>,
    pub thread_ts: Option<String>,
    /// What Slack says about it, else null.
    pub context: Value,
}

/// Somebody pressed the stop button of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub user: String,
    /// The conversation.
    pub channel: String,
    pub thread_ts: String,
    /// The streamed messages that Slack has ended already.
    pub streams: Vec<String>,
}

/// Somebody sent off a modal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    pub user: Person,
    /// The modal, with what was filled in.
    pub view: View,
    /// Where the form lets us answer.
    pub response_urls: Vec<ResponseUrl>,
    /// Lets us open a view, for three seconds, once.
    pub trigger_id: Option<String>,
}

/// Somebody closed a modal without sending it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub user: Person,
    /// The modal.
    pub view: View,
    /// Whether the whole stack was closed.
    pub cleared: bool,
}

/// Somebody typed a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub user: Person,
    /// The command with its slash.
    pub command: String,
    /// What stands behind it.
    pub text: String,
    /// Where it was typed.
    pub channel: String,
    /// What kind of conversation that is.
    pub kind: ConversationKind,
    /// The channel's name.
    pub channel_name: Option<String>,
    /// Lets us open a view, for three seconds, once.
    pub trigger_id: Option<String>,
    /// Lets us answer later.
    pub response_url: Option<String>,
}

/// Somebody used a shortcut.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortcut {
    pub user: Person,
    /// The shortcut's name.
    pub callback_id: String,
    /// The conversation; none for a global one.
    pub channel: Option<String>,
    /// The message; none for a global one.
    pub message_ts: Option<String>,
    /// The root of the message's thread.
    pub thread_ts: Option<String>,
    /// The message itself.
    pub message: Option<IncomingMessage>,
    /// Lets us open a view, for three seconds, once.
    pub trigger_id: Option<String>,
    /// Lets us answer later.
    pub response_url: Option<String>,
}

/// A list wants to know what it may offer; the answer goes into the acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggest {
    pub user: Person,
    /// The element.
    pub action_id: String,
    pub block_id: String,
    /// What was typed so far.
    pub typed: String,
    /// The conversation, where it is in a message.
    pub channel: Option<String>,
    /// The view, where it is in one.
    pub view: Option<View>,
}

/// Somebody came into a channel, or left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Who; perhaps the app itself.
    pub user: String,
    pub channel: String,
    /// What kind of channel that is.
    pub kind: ConversationKind,
    /// Who invited them.
    pub inviter: Option<String>,
}

/// Somebody put an emoji on a message, or took it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub user: String,
    /// The emoji without colons.
    pub name: String,
    /// The conversation.
    pub channel: String,
    /// The message.
    pub ts: String,
    /// Whose message that is.
    pub author: Option<String>,
    /// Whether it was taken away.
    pub removed: bool,
}
