//! A session event by event, as plain text.

mod tell;
mod word;

pub use tell::story;
