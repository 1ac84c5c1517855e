//! The text of `iptables-save` and `ip6tables-save`.
//!
//! Goes in: text. Comes out: a ruleset in which every word of every rule stands. Never: a meaning; that is `logic`'s.

mod document;
mod option;
mod print;
mod rule;

pub(super) use document::read;
pub(super) use option::{canonical, is_extension_target};
pub(super) use print::print;
pub(super) use rule::in_words;
