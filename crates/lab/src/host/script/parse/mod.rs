//! Text to a tree. What is not understood is an error with its line.

mod command;
mod compound;
mod expansion;
mod reader;
mod word;

pub(super) use reader::{SyntaxError, parse};
