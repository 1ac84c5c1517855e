//! The local Slack, as an app and as a person meet it.

mod http;
mod socket;
mod stage;
