//! `az` for machines that have none: the commands that incidents need, over the same requests, with the same output.
//!
//! Goes in: the words of a command line, and somebody who answers requests. Comes out: what the real one prints, and its exit code.
//! Never: a request that the real one would not send, an answer for a command that is not known.

mod failure;
mod flatten;
mod network;
mod run;
mod session;
mod words;

pub use failure::Failure;
pub use run::{Printed, run};
pub use session::Wire;
