//! The local Slack, as an app and as a person meet it.

mod bolt;
mod endpoint;
mod http;
mod load;
mod menu;
mod sdk;
mod socket;
pub(crate) mod stage;
