//! Reading the cloud without `az`: what a judged line of `az` asks for, asked from within this process.
//!
//! Goes in: a permit for a line that only reads. Comes out: what `az` prints for it, with its exit code and its words for failures, and which
//! requests were sent. Never: a request for a line that the gate did not permit; a request other than a GET, or one of the questions that the
//! platform takes as a POST, with nothing in it but what the line names; a token in a text or in a core file; a token that `az` keeps; an address that an answer names outside the
//! resource manager and the subscription.
//!
//! The steps of a line: `request` (words → one row of `table`, strictly: whatever is not known is left to `az`) → `perform` (requests over
//! `client`, which knows pages, long operations, other tries, and `throttle`, which all sessions share) → `shape` (the platform's form → that
//! of `az`) → `query` and `print`. `place` says where the cloud is, `token` and `assertion` as whom it is asked.

mod account;
mod assertion;
mod cache;
mod challenge;
mod client;
mod failure;
mod log;
mod memory;
mod perform;
mod place;
mod print;
mod query;
mod renew;
mod request;
mod runner;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod throttle;
mod token;
mod watch;

pub use place::{Place, PlaceError};
pub use runner::NativeReader;
pub use table::commands;
