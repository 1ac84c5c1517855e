//! Gemini.

pub(in crate::model) mod rules;
mod turn;
