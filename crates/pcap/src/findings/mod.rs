//! What is wrong: rules as data, and the findings that they make.

mod datagrams;
mod echo;
mod filter;
mod find;
mod finding;
mod flood;
mod http;
mod link;
mod names;
mod path;
mod rule;
mod suspect;
mod tcp;
mod tls;

pub(super) use find::find;
pub use finding::{Evidence, Finding, Severity};
pub use rule::{Rule, rules};
pub(super) use suspect::tunnel;
