//! The local Slack, as an app and as a person meet it.

mod http;
mod load;
mod socket;
mod stage;
