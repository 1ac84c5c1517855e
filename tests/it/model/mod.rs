//! Each provider against a local server that speaks its documented format and refuses what its documentation refuses.
#![expect(clippy::indexing_slicing, reason = "a request that lacks a field should fail its test")]

mod anthropic;
mod fallback;
mod gemini;
mod history;
mod openai;
mod server;
mod strict;
mod transcripts;
