//! OpenAI in both dialects.

mod chat;
mod responses;
pub(in crate::model) mod rules;
