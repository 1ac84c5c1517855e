//! Findings, and the rules that make them.

mod datagrams;
mod echo;
mod find;
mod finding;
mod flood;
mod http;
mod link;
mod names;
mod path;
mod suspect;
mod tcp;
mod tls;

pub(super) use find::find;
pub use finding::{Evidence, Finding, Severity};
pub use finding::{Rule, rules};
pub(super) use suspect::tunnel;
