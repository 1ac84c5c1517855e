//! Presses, forms, shortcuts and commands.

use serde_json::Value;

use crate::arrive::arrival::{Arrival, Closed, Command, Origin, Shortcut, Submit, Suggest, What};
use crate::arrive::field::{first, flag, said, text};
use crate::arrive::form::{Person, ResponseUrl, View, place};
use crate::arrive::message::{ConversationKind, IncomingMessage};
use crate::arrive::press::Press;
use ghost_base::Digest;

/// Reads what an interaction sends: a press, a form, a shortcut.
#[must_use]
pub fn interactive(body: &Value) -> Arrival {
    let kind = said(body, &["type"]);
    let what = match kind.as_str() {
        "block_actions" => What::Press(Box::new(Press::read(body))),
        "view_submission" => What::Submit(Box::new(Submit {
            user: Person::read(body),
            view: View::read(body.get("view").unwrap_or(&Value::Null)),
            response_urls: ResponseUrl::read(body),
            trigger_id: text(body, &["trigger_id"]),
        })),
        "view_closed" => What::Closed(Box::new(Closed {
            user: Person::read(body),
            view: View::read(body.get("view").unwrap_or(&Value::Null)),
            cleared: flag(body, &["is_cleared"]),
        })),
        "message_action" | "shortcut" => What::Shortcut(Box::new(shortcut(body))),
        "block_suggestion" => What::Suggest(Box::new(Suggest {
            user: Person::read(body),
            action_id: said(body, &["action_id"]),
            block_id: said(body, &["block_id"]),
            typed: said(body, &["value"]),
            channel: first(body, &[&["channel", "id"], &["container", "channel_id"]]),
            view: View::read_some(body),
        })),
        // A kind that is not known yet, but has actions, is a press of something new.
        _ if body.get("actions").is_some_and(Value::is_array) => What::Press(Box::new(Press::read(body))),
        _ => What::Other { kind, body: body.clone() },
    };
    let key = if let What::Press(press) = &what { press.key.clone() } else { key(body) };
    Arrival { origin: origin(body, key), what }
}

/// Reads what a command sends.
#[must_use]
pub fn command(body: &Value) -> Arrival {
    let channel = first(body, &[&["channel_id"], &["channel", "id"]]).unwrap_or_default();
    let channel_name = text(body, &["channel_name"]);
    let command = Command {
        user: Person {
            id: first(body, &[&["user_id"], &["user", "id"]]).unwrap_or_default(),
            name: text(body, &["user_name"]),
            ..Person::default()
        },
        command: said(body, &["command"]),
        text: said(body, &["text"]),
        kind: ConversationKind::read(channel_name.as_deref().unwrap_or_default(), &channel),
        trigger_id: text(body, &["trigger_id"]),
        response_url: text(body, &["response_url"]),
        channel,
        channel_name,
    };
    Arrival { origin: origin(body, key(body)), what: What::Command(Box::new(command)) }
}

fn shortcut(body: &Value) -> Shortcut {
    let message = body.get("message").filter(|message| message.is_object());
    Shortcut {
        user: Person::read(body),
        callback_id: said(body, &["callback_id"]),
        channel: first(body, &[&["channel", "id"], &["channel"]]),
        message_ts: first(body, &[&["message_ts"], &["message", "ts"]]),
        thread_ts: text(body, &["message", "thread_ts"]),
        message: message.map(|message| IncomingMessage::read(message, body)),
        trigger_id: text(body, &["trigger_id"]),
        response_url: text(body, &["response_url"]),
    }
}

/// Names an interaction: its trigger is its own; without one, everything that it says.
fn key(body: &Value) -> String {
    let user = first(body, &[&["user", "id"], &["user_id"]]).unwrap_or_default();
    let all = || body.to_string();
    let moment = first(body, &[&["trigger_id"]]).unwrap_or_else(all);
    Digest::of_fields([said(body, &["type"]).as_str(), &user, &moment]).to_string()
}

fn origin(body: &Value, key: String) -> Origin {
    let (team, enterprise, enterprise_install) = place(body);
    Origin {
        key,
        team,
        enterprise,
        enterprise_install,
        shared: flag(body, &["channel", "is_ext_shared"]) || flag(body, &["is_ext_shared_channel"]),
        app: first(body, &[&["api_app_id"], &["view", "app_id"]]),
        accepts_payload: true,
        ..Origin::default()
    }
}
