//! Consent for agents that no session of the bot drives: they ask through its port or through the store, and a human answers in Slack.
//!
//! Goes in: what an agent wants to do, and where it runs. Comes out: a human's answer, for exactly that text, once. Never: a consent that
//! two processes use; one for another text than the one that runs; a yes because something could not be reached, or was late.
//!
//! The agent's side is [`Client`], over a [`Link`]: [`HttpLink`] or [`StoreLink`]. [`OutsideApprover`] makes an approver of the gate of it.
//! The bot's side is [`routes`]. Every request is a session of its own ([`opened`]), so that it survives replicas and restarts.

mod approver;
mod callers;
mod client;
mod http;
mod kept;
mod link;
mod open;
mod server;
mod store;

pub use approver::{About, OutsideApprover};
pub use callers::{Caller, Callers, MIN_TOKEN_CHARS, Rates, TokenNow};
pub use client::{Client, OutsideAnswer};
pub use ghost_investigate::event::{OutsideKind, OutsideRequest};
pub use ghost_investigate::outside::{Granted, Standing};
pub use http::{HttpLink, HttpPlace};
pub use kept::Kept;
pub use link::{Link, LinkError, MAX_TEXT_BYTES, StandingQuery, session_of};
pub use open::{OutsideRoom, opened};
pub use server::{OutsideServer, routes};
pub use store::StoreLink;
