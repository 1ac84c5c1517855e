//! The workspace as plain data, and everything that can happen to it.
//!
//! Goes in: a call or an act of a person, and the time. Comes out: an answer or a refusal in Slack's words, and what has to
//! be delivered, as values. Never: waiting, a socket, a clock.

mod answer;
mod app;
mod args;
mod block;
mod call;
mod cap;
mod channel;
mod chat;
mod context;
mod conversation;
mod error;
mod event;
mod field;
mod file;
mod install;
mod interaction;
mod limit;
mod manage;
mod message;
mod method;
mod model;
mod person;
mod press;
mod reaction;
mod rich;
mod schedule;
mod seed;
mod session;
mod stream;
mod user;
mod view;
mod wording;

pub(super) use app::App;
pub(super) use args::Args;
pub(super) use error::SlackError;
pub(super) use event::{Effect, Notice};
pub(super) use file::MAX_FILE_BYTES;
pub(super) use interaction::{Interaction, Post, offered};
pub(super) use method::{Method, Token, method};
pub(super) use model::{FORMAT, Workspace};
pub(super) use seed::fresh;
pub(super) use user::User;

#[cfg(test)]
mod tests;
