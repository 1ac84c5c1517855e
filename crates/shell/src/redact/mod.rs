//! Takes secrets out of text before anyone else reads it.
//!
//! Goes in: any text, most often what a program printed. Comes out: [`Redacted`], the same bytes except that each
//! secret is a placeholder such as `[redacted:password]`. Never: a second maker of [`Redacted`], a re-printed
//! document, a clock, a file, a network.
//!
//! *Invariants*
//!
//! - What is valid JSON stays valid JSON, with its order and its spaces: a value is replaced where it stands.
//! - Text without a secret comes back byte for byte.
//! - Redacting twice is redacting once; a text that will not settle is withheld whole.
//! - The time is linear in the length of the text: each rule walks it once, and once more below each encoding, of
//!   which at most four are taken off.

mod assign;
mod cloud;
mod command;
mod decode;
mod encoded;
mod grid;
mod header;
mod json;
mod login;
mod member;
mod name;
mod network;
mod pair;
mod pem;
mod reader;
#[cfg(test)]
mod reader_tests;
mod redacted;
mod row;
mod scan;
mod shape;
mod span;
mod speech;
mod table;
#[cfg(test)]
mod tests;
mod url;
mod value;
mod view;
mod word;

pub use redacted::{Redacted, redact, redact_with_ids};
