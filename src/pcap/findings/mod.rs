//! What is wrong: rules as data, and the findings that they make.

mod echo;
mod filter;
mod find;
mod finding;
mod flood;
mod link;
mod names;
mod path;
mod rule;
mod suspect;
mod tcp;

pub(super) use find::find;
pub use finding::{Evidence, Finding, Severity};
pub use rule::{Rule, rules};
pub(super) use suspect::tunnel;
