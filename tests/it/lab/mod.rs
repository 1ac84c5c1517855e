//! The local Slack, as an app and as a person meet it.

mod bolt;
mod door;
mod http;
mod load;
mod menu;
mod sdk;
mod socket;
pub(crate) mod stage;
