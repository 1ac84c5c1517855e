//! Text to commands: the one reader of command lines.
//!
//! Goes in: any text. Comes out: every simple command in it, with its words as a POSIX shell splits them and with what
//! the text would need a shell for. Never: a panic, a look at the machine, work that is not linear in the text.
//!
//! The reader is our own because no existing parser answers both questions that the gate asks. Shell parsers refuse
//! what they cannot parse, while the gate has to take apart a hostile text anyway, and the words that were judged have
//! to be the words that run. Tests compare it with real shells. What the shell of a caller runs is read once more, by a reader that takes
//! only what all shells read alike (`judge/alike.rs`).

pub(crate) mod brace;
mod lex;
mod list;
mod mark;
mod odd;
mod repeat;
mod script;
mod visible;

pub(crate) use lex::{read, read_without_shell};
pub use list::plain_commands;
pub(crate) use list::{ListCommand, Row};
pub(crate) use odd::oddity;
pub(crate) use script::{Command, Link, Need, OUTPUT_FILE, RedirectKind, Script, Word, WordFill};
pub use visible::{lookalikes, visible};
