//! `ghost netfilter`: rulesets read, packets walked, differences judged.
//!
//! Goes in: files as the tools of a guest print them, or a guest to look at. Comes out: one document or a text. Never: a change of a guest.

mod command;
mod inspect;
mod keep;
mod text;
mod whole;

pub use command::{Arguments, run};
