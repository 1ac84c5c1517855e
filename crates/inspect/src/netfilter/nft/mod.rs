//! What `nft -j list ruleset` prints.
//!
//! Goes in: JSON. Comes out: a ruleset in which every expression stands as it was printed. Never: a meaning; that is `logic`'s.

mod content;
mod document;
mod known;
mod print;
mod render;

pub(super) use document::read;
pub(super) use print::print;
pub(super) use render::{operand as operand_in_words, statement as in_words};
