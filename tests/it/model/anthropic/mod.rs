//! Anthropic's Messages API.

mod history;
mod rules;
mod trouble;
mod turn;
mod wire;

pub(in crate::model) use rules::hold as rules_of;
