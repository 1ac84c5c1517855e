//! Anthropic's Messages API, streamed.
//!
//! Goes in: the conversation. Comes out: a turn. Never: a signed thought that was changed, or that is sent although something
//! before it changed (the provider rejects both); half a call.

mod client;
mod decode;
mod encode;
mod error;

pub use client::{Anthropic, Options};
