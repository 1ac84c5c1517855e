//! `ghost netfilter`: rulesets read, packets walked, differences judged.
//!
//! Goes in: files as the tools of a guest print them. Comes out: one document or a text. Never: a connection to a guest.

mod command;
mod keep;
mod told;
mod whole;

pub(super) use command::{Arguments, run};
