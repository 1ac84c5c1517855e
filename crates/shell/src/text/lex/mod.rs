//! The reader itself: one pass, an explicit stack instead of recursion.

mod expand;
mod finish;
mod operator;
mod quote;
mod reader;

pub(crate) use reader::{read, read_without_shell};
