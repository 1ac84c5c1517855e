//! `ghost path`: can one flow pass, and what decides it.
//!
//! Goes in: a bundle of documents that were read, or a resource group to read them from, and who calls whom. Comes out: every hop in both directions with its verdict, what
//! decides, what stands behind it, what would have to be read. Never: a change of anything, a certain answer from a part.

pub mod bundle;
mod collect;
mod command;
mod diff;
mod live;
mod past;
pub mod place;
mod remedy;
mod show;
mod watch;

pub use command::{Arguments, Question, run};
pub use live::LiveEstate;
