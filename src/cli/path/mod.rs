//! `ghost path`: can one flow pass, and what decides it.
//!
//! Goes in: a bundle of documents that were read, and who calls whom. Comes out: every hop in both directions with its verdict, what
//! decides, what stands behind it, what would have to be read. Never: a call of the cloud, a certain answer from a part.

mod bundle;
mod command;
mod diff;
mod place;
mod show;

pub(super) use command::{Arguments, run};
