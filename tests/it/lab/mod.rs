//! The local Slack, as an app and as a person meet it.

mod bolt;
mod http;
mod load;
mod sdk;
mod socket;
mod stage;
