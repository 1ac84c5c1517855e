//! What travels over a socket.

use std::time::Duration;

use serde_json::Value;

use crate::arrive::arrival::{Arrival, Origin, What};
use crate::arrive::field::{at, flag, number, said, text};
use crate::arrive::{command, event, interactive};

/// Why Slack ends a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Farewell {
    /// It will end in some seconds.
    Warning,
    /// It ends now; another one is wanted.
    Refresh,
    /// Somebody switched Socket Mode off.
    Disabled,
    /// The app has as many connections as it may have.
    TooMany,
    /// Something else.
    Other(String),
}

/// Something that wants an acknowledgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// What has to be repeated in the acknowledgement; without one there can be none.
    pub id: Option<String>,
    /// What is inside.
    pub arrival: Arrival,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// The connection is ready.
    Hello {
        /// How many connections the app has.
        connections: Option<u64>,
        /// How long this one will live, as Slack guesses.
        lifetime: Option<Duration>,
        app: Option<String>,
    },
    /// The connection will end.
    Disconnect(Farewell),
    /// Something arrived.
    Envelope(Box<Envelope>),
    /// Something that wants no acknowledgement and has no name here.
    Unknown {
        /// What Slack calls it; empty where it does not say.
        kind: String,
    },
    /// No JSON.
    Unreadable,
}

impl Frame {
    /// Reads a frame.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).map_or(Self::Unreadable, |frame| Self::of(&frame))
    }

    fn of(frame: &Value) -> Self {
        let kind = said(frame, &["type"]);
        match kind.as_str() {
            "hello" => Self::Hello {
                connections: number(frame, &["num_connections"]),
                lifetime: number(frame, &["debug_info", "approximate_connection_time"])
                    .map(Duration::from_secs),
                app: text(frame, &["connection_info", "app_id"]),
            },
            "disconnect" => Self::Disconnect(match said(frame, &["reason"]).as_str() {
                "warning" => Farewell::Warning,
                "refresh_requested" => Farewell::Refresh,
                "link_disabled" => Farewell::Disabled,
                "too_many_websockets" => Farewell::TooMany,
                other => Farewell::Other(other.to_owned()),
            }),
            _ => envelope(kind, frame),
        }
    }
}

fn envelope(kind: String, frame: &Value) -> Frame {
    let id = text(frame, &["envelope_id"]);
    let Some(payload) = at(frame, &["payload"]) else {
        let Some(id) = id else { return Frame::Unknown { kind } };
        let origin = Origin { key: id.clone(), ..Origin::default() };
        let what = What::Other { kind, body: Value::Null };
        return Frame::Envelope(Box::new(Envelope { id: Some(id), arrival: Arrival { origin, what } }));
    };
    let mut arrival = match kind.as_str() {
        "events_api" => event(payload),
        "slash_commands" => command(payload),
        "interactive" => interactive(payload),
        // A new kind of envelope: what is inside tells what it is.
        _ if payload.get("event").is_some() => event(payload),
        _ if payload.get("command").is_some() => command(payload),
        _ => interactive(payload),
    };
    let origin = &mut arrival.origin;
    origin.retry = number(frame, &["retry_attempt"]).unwrap_or(origin.retry);
    origin.retry_reason = text(frame, &["retry_reason"]).or(origin.retry_reason.take());
    if at(frame, &["accepts_response_payload"]).is_some() {
        origin.accepts_payload = flag(frame, &["accepts_response_payload"]);
    }
    Frame::Envelope(Box::new(Envelope { id, arrival }))
}
