//! Events of the Events API.

use serde_json::Value;

use crate::arrive::arrival::{
    Arrival, Context, Deleted, Edited, Home, Membership, Origin, Reaction, Stopped, What,
};
use crate::arrive::field::{at, first, flag, number, said, text, texts};
use crate::arrive::form::{View, authed, authorization};
use crate::arrive::message::{ConversationKind, IncomingMessage};
use ghost_base::Digest;

/// Reads what the Events API calls back with.
#[must_use]
pub fn event(body: &Value) -> Arrival {
    let none = Value::Null;
    let event = at(body, &["event"]).unwrap_or(&none);
    let (team, enterprise, enterprise_install) = authorization(body);
    let key = text(body, &["event_id"]).unwrap_or_else(|| {
        // An event without a name is named by what it says; a repetition says the same.
        Digest::of_fields(["event", body.to_string().as_str()]).to_string()
    });
    let origin = Origin {
        key,
        retry: number(body, &["retry_attempt"]).unwrap_or(0),
        retry_reason: text(body, &["retry_reason"]),
        // In a channel that is shared, `team_id` is the workspace of whoever wrote; the others say for which installation it came.
        team: team.or_else(|| first(body, &[&["context_team_id"], &["team_id"]])),
        enterprise: enterprise.or_else(|| first(body, &[&["context_enterprise_id"], &["enterprise_id"]])),
        enterprise_install,
        shared: flag(body, &["is_ext_shared_channel"]),
        app: text(body, &["api_app_id"]),
        authed: authed(body),
        accepts_payload: false,
    };
    Arrival { origin, what: what(event, body) }
}

fn what(event: &Value, body: &Value) -> What {
    let kind = said(event, &["type"]);
    match kind.as_str() {
        "app_mention" => What::Mention(IncomingMessage::read(event, event)),
        "message" => message(event),
        "app_home_opened" => What::HomeOpened(Home {
            user: user(event),
            // Slack leaves the tab out where there is only one.
            tab: text(event, &["tab"]).unwrap_or_else(|| "home".to_owned()),
            channel: text(event, &["channel"]),
            view: View::read_some(event),
        }),
        "agent_session_stopped" => What::Stopped(Stopped {
            user: user(event),
            channel: channel(event),
            thread_ts: first(event, &[&["thread_ts"], &["session", "thread_ts"]]).unwrap_or_default(),
            streams: match text(event, &["streaming_message_ts"]) {
                Some(one) => vec![one],
                None => texts(event, &["streaming_message_ts"]),
            },
        }),
        "assistant_thread_started" | "assistant_thread_context_changed" | "app_context_changed" => {
            What::ContextChanged(context(event))
        }
        "member_joined_channel" => What::Joined(membership(event)),
        "member_left_channel" => What::Left(membership(event)),
        "reaction_added" => What::Reaction(reaction(event, false)),
        "reaction_removed" => What::Reaction(reaction(event, true)),
        "" => What::Other { kind: said(body, &["type"]), body: body.clone() },
        _ => What::Other { kind, body: body.clone() },
    }
}

fn message(event: &Value) -> What {
    let inner = |name: &str| at(event, &[name]).filter(|inner| inner.is_object());
    let words = |name: &str| inner(name).map(|inner| IncomingMessage::read(inner, event));
    match text(event, &["subtype"]).as_deref() {
        Some("message_changed") => match words("message") {
            // A root with answers is not deleted: a stone takes its place.
            Some(now) if now.subtype.as_deref() == Some("tombstone") => What::Deleted(Box::new(Deleted {
                channel: now.channel,
                ts: now.ts,
                thread_ts: now.thread_ts,
                before: words("previous_message"),
            })),
            Some(now) => What::Edited(Box::new(Edited { now, before: words("previous_message") })),
            None => What::Other { kind: "message_changed".to_owned(), body: event.clone() },
        },
        Some("message_deleted") => {
            let before = words("previous_message");
            let ts = text(event, &["deleted_ts"]).or_else(|| before.as_ref().map(|words| words.ts.clone()));
            let thread_ts = before.as_ref().and_then(|words| words.thread_ts.clone());
            What::Deleted(Box::new(Deleted {
                channel: channel(event),
                ts: ts.unwrap_or_default(),
                thread_ts,
                before,
            }))
        }
        // Slack says that a thread has one more answer; the answer itself comes as a message.
        Some("message_replied") => What::Other { kind: "message_replied".to_owned(), body: event.clone() },
        Some(_) | None => What::Message(IncomingMessage::read(event, event)),
    }
}

fn user(event: &Value) -> String {
    first(event, &[&["user"], &["user", "id"], &["user_id"]]).unwrap_or_default()
}

fn channel(event: &Value) -> String {
    first(event, &[&["channel"], &["channel", "id"], &["channel_id"]]).unwrap_or_default()
}

fn context(event: &Value) -> Context {
    let inner = at(event, &["assistant_thread"]).unwrap_or(event);
    Context {
        user: first(inner, &[&["user_id"], &["user"]]).unwrap_or_default(),
        channel: first(inner, &[&["channel_id"], &["channel"]]),
        thread_ts: text(inner, &["thread_ts"]),
        context: at(inner, &["context"]).cloned().unwrap_or(Value::Null),
    }
}

fn membership(event: &Value) -> Membership {
    let channel = channel(event);
    Membership {
        user: user(event),
        kind: ConversationKind::read(&said(event, &["channel_type"]), &channel),
        inviter: text(event, &["inviter"]),
        channel,
    }
}

fn reaction(event: &Value, removed: bool) -> Reaction {
    Reaction {
        user: user(event),
        name: said(event, &["reaction"]),
        channel: said(event, &["item", "channel"]),
        ts: said(event, &["item", "ts"]),
        author: text(event, &["item_user"]),
        removed,
    }
}
