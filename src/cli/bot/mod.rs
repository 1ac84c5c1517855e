//! `ghost bot`: the Slack bot.
//!
//! Goes in: the configuration, tokens. Comes out: a bot that runs until it is told to stop. Never: a token on the command line
//! or in a message.

mod command;
mod leftover;
mod settings;
mod tokens;

pub(super) use command::{Arguments, run, serve};
pub(super) use settings::settings;
pub(super) use tokens::found;
