//! A click, or something else that was done in a message or a view.

use serde_json::Value;

use crate::arrive::field::{first, flag, items, said, text};
use crate::arrive::form::{Field, Person, Values, View};
use crate::arrive::message::IncomingMessage;
use ghost_base::Digest;

/// What was done with one element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Action {
    /// The element.
    pub action_id: String,
    pub block_id: String,
    /// The element's type, `button` for instance.
    pub kind: String,
    /// What we put into the button, or what was written or chosen.
    pub value: Option<String>,
    /// Everything that was chosen.
    pub selected: Vec<String>,
    /// When it was done.
    pub action_ts: Option<String>,
}

/// A click, or something else that was done in a message or a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Press {
    pub user: Person,
    /// The workspace.
    pub team: Option<String>,
    /// The organization, on Enterprise Grid.
    pub enterprise: Option<String>,
    /// The conversation, where it was in a message.
    pub channel: Option<String>,
    pub message_ts: Option<String>,
    /// The root of the message's thread.
    pub thread_ts: Option<String>,
    /// Whether only that person saw the message.
    pub ephemeral: bool,
    /// What was done.
    pub action: Action,
    /// What was done at the same time with other elements; Slack sends one as a rule.
    pub more: Vec<Action>,
    /// What else is filled in.
    pub values: Values,
    /// The message as it was clicked, where Slack says.
    pub message: Option<IncomingMessage>,
    /// The view, where it was in one.
    pub view: Option<View>,
    /// Lets us open a view, for three seconds, once.
    pub trigger_id: Option<String>,
    /// Lets us answer later.
    pub response_url: Option<String>,
    /// The name of this very click: another click has another one, the same click delivered twice has this one.
    pub key: String,
}

impl Press {
    pub(crate) fn read(body: &Value) -> Self {
        let mut actions = items(body, &["actions"]).iter().map(action);
        let action = actions.next().unwrap_or_default();
        let user = Person::read(body);
        let channel = first(body, &[&["channel", "id"], &["container", "channel_id"], &["channel"]]);
        let message_ts = first(body, &[&["container", "message_ts"], &["message", "ts"], &["message_ts"]]);
        let view = View::read_some(body);
        let trigger_id = text(body, &["trigger_id"]);
        let place = view.as_ref().map(|view| view.id.clone()).or_else(|| message_ts.clone());
        let key = Digest::of_fields([
            "press",
            action.action_ts.as_deref().unwrap_or_default(),
            // Two clicks may fall into one moment; each has a trigger of its own.
            trigger_id.as_deref().unwrap_or_default(),
            &user.id,
            &action.action_id,
            channel.as_deref().unwrap_or_default(),
            place.as_deref().unwrap_or_default(),
            action.value.as_deref().unwrap_or_default(),
        ]);
        let (team, enterprise, _) = crate::arrive::form::place(body);
        let message = body.get("message").filter(|message| message.is_object());
        Self {
            team,
            enterprise,
            thread_ts: first(body, &[&["container", "thread_ts"], &["message", "thread_ts"]]),
            ephemeral: flag(body, &["container", "is_ephemeral"]),
            more: actions.collect(),
            values: Values::read(body.get("state").and_then(|state| state.get("values"))),
            message: message.map(|message| IncomingMessage::read(message, body)),
            response_url: text(body, &["response_url"]),
            key: key.to_string(),
            user,
            channel,
            message_ts,
            action,
            view,
            trigger_id,
        }
    }
}

fn action(action: &Value) -> Action {
    let field = Field::read(action);
    Action {
        action_id: said(action, &["action_id"]),
        block_id: said(action, &["block_id"]),
        kind: field.kind,
        value: field.text,
        selected: field.selected,
        action_ts: text(action, &["action_ts"]),
    }
}
