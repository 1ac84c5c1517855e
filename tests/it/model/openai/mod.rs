//! OpenAI in both dialects.

pub(in crate::model) mod chat;
pub(in crate::model) mod responses;
pub(in crate::model) mod rules;
