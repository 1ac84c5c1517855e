//! Gemini through `streamGenerateContent`.
//!
//! Goes in: a conversation. Comes out: a turn, read while it is written. Never: the key in an address, a signed thought
//! that is changed, moved or shown to another model.

mod decode;
mod encode;
mod error;
mod model;
mod schema;

pub use model::{Gemini, Options};

const PROVIDER: &str = "gemini";
