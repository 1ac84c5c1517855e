//! Requests that Slack signed, in place of a socket.
//!
//! Goes in: headers, body, secret and time. Comes out: the same [`crate::arrive::Arrival`]s that sockets bring. Never:
//! a body that is read before its signature was checked.

mod form;
mod receive;

pub use receive::{Received, Refused, WINDOW, receive, verify};
