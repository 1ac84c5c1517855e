//! What is wrong: rules as data, and the findings that they make.

mod find;
mod finding;
mod rule;

pub(super) use find::find;
pub use finding::{Evidence, Finding, Severity};
pub use rule::{Rule, rules};
