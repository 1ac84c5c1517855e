//! Everything that can be read in a message, whatever part of it says it.
//!
//! Goes in: a message as Slack sent it. Comes out: [`Content`], its passages in Slack's markup, each with who wrote it, and the
//! parts that cannot be read, by name. Never: the same words twice, an order, or a panic on an odd payload. All of it is text of
//! other people and programs.

mod attachment;
mod block;
mod file;
mod passage;
mod same;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use block::blocks_text;
pub use file::is_text_file;
pub use passage::{Content, Origin, Passage, PassageKind, Unread};
