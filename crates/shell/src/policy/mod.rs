//! The policy: what may run, as data with examples.
//!
//! Goes in: the embedded policy files, and a site's own if it has one. Comes out: tables that the judge reads, each entry
//! with examples that were checked. Never: a site that opens what tier 0 forbids, or an entry whose examples fail.

mod block;
mod caller;
mod cloud;
mod cost;
mod describe;
mod destination;
mod document;
mod entry;
mod example;
mod file;
mod grammar;
mod impact;
mod kind;
#[cfg(test)]
mod kind_tests;
mod load;
mod page;
mod refusal;
mod sample;
mod script;
mod site;
mod wrapper;

pub(crate) use block::{Block, CommandPattern, Credentials, Harm, Rule, Step};
pub(crate) use caller::Callers;
pub(crate) use cloud::{Carrier, Cloud, DestroyOption, SecretOption, is_below};
pub(crate) use cost::{CostRule, Factor, Targets, thousandths};
pub use describe::RuleSummary;
pub(crate) use destination::{Destinations, Reading};
pub(crate) use entry::{Check, Entry};
pub use example::Example;
pub(crate) use file::Files;
pub(crate) use grammar::Given;
pub(crate) use impact::{ImpactRow, Part};
pub(crate) use kind::{Kind, carries_data, is_host, ports};
pub use load::{Policy, PolicyError};
pub(crate) use page::Page;
pub(crate) use refusal::{Refusal, shorten};
pub use script::quote;
pub use script::{FilledScript, Script, ScriptError, script_line};
pub(crate) use wrapper::Wrapper;
