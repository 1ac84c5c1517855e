//! Findings, and the rules that make them.

mod datagrams;
mod echo;
mod finding;
mod flood;
mod http;
mod link;
mod names;
mod path;
mod suspect;
mod tcp;
mod tls;

pub(super) use finding::find;
pub use finding::{Evidence, Finding, Rule, Severity, rules};
pub(super) use suspect::tunnel;
