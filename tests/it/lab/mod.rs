//! The local Slack, as an app and as a person meet it.

mod door;
mod http;
mod menu;
mod socket;
mod stage;
