//! `kubectl`, as far as reading goes: the words of a line, what it prints, how it ends.
//!
//! Texts and exit codes are those of kubectl 1.32, compared with the program itself against a small server.

mod answer;
mod kind;
mod line;
mod print;
mod table;

pub(crate) use answer::{Answered, kubectl};
pub(super) use kind::is_known_kind;
