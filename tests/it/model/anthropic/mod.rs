//! Anthropic's Messages API.

mod history;
mod rules;
mod trouble;
mod turn;
mod wire;
