//! `ghost bot`: the Slack bot.
//!
//! Goes in: the configuration, tokens. Comes out: a bot that runs until it is stopped. Never: a token on the command line
//! or in a message.

mod alerts;
mod command;
mod leftover;
mod outside;
mod settings;
mod start;
mod tokens;

pub(super) use alerts::is_usable;
#[cfg(feature = "lab")]
pub(super) use command::serve;
pub(super) use command::{Arguments, run};
pub(super) use settings::settings;
pub(super) use tokens::{found, swapped};
