//! Slack as Ghost meets it: connections, calls, blocks, and what arrives.
//!
//! Goes in: frames and requests of Slack, messages to say. Comes out: typed arrivals, and names of the messages that stand.
//! Never: an acknowledgement before the handler has made the arrival durable; a click that is lost because a field was missing
//! or of another type; a call without a time limit; a token in a log.
//!
//! - [`arrive`] reads what Slack sends, [`socket`] and [`signed`] receive it.
//! - [`content`] is everything that can be read in a message.
//! - [`web`] calls Slack, in the order and at the speed of [`pace`].
//! - [`text`] and [`block`] make what is said.
//!
//! Whoever uses it installs a provider of cryptography for `rustls` first.
//!
//! ```
//! use ghost_slack::arrive::{Frame, What};
//!
//! // A click on Enterprise Grid: no team, and metadata of a shape that nobody asked for.
//! let frame = r#"{"type": "interactive", "envelope_id": "e1", "payload": {"type": "block_actions", "team": null,
//!     "user": {"id": "U1"}, "message": {"metadata": {"event_payload": [1]}}, "actions": [{"action_id": "approve", "value": "ap-1"}]}}"#;
//! let Frame::Envelope(envelope) = Frame::read(frame) else { panic!() };
//! let What::Press(press) = envelope.arrival.what else { panic!() };
//! assert_eq!((press.user.id.as_str(), press.action.value.as_deref()), ("U1", Some("ap-1")));
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod arrive;
pub mod block;
pub mod content;
pub mod pace;
pub mod signed;
pub mod socket;
pub mod text;
pub mod web;
