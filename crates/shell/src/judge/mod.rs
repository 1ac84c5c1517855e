//! The judge: one text in, one ruling out.
//!
//! Goes in: a command line and a policy. Comes out: a verdict with its tier, rule and reason, and the words that would
//! run. Never: a clock, the environment, a file; an answer that depends on anything but the two inputs; SAFE for what
//! was not understood.
//!
//! Two passes look at every text. The search of tier 0 takes it apart as far as anything in it could run and stops at the first
//! part that tier 0 forbids. Only what survives is held against the allow list.

mod address;
mod alike;
mod allow;
mod caller;
mod classify;
mod cloud;
mod cluster;
mod cost;
mod credential;
mod curl;
mod destination;
mod filter;
mod forbidden;
mod harm;
mod impact;
mod list;
mod operand;
mod page;
mod path;
mod redirect;
mod remote;
mod request;
mod scope;
#[cfg(test)]
mod tests;
mod unwrap;

pub(crate) use address::parse_address;
pub(crate) use redirect::Redirects;
pub(crate) use request::{Lookup, RequestTarget};
pub use scope::Scope;
pub(crate) use scope::blocked;

/// The longest text that is judged: no longer one could run, because the kernel takes no longer argument.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;
