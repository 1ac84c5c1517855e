//! Gemini.

pub(in crate::model) mod rules;
pub(in crate::model) mod turn;
