//! The local Slack.

pub mod block;
pub mod page;
