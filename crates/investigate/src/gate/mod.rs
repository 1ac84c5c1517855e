//! What has to hold before an investigation may end, and what it then comes to.
//!
//! Goes in: the state and what the model claims. Comes out: every gate that is closed, with its reason; or the outcome.
//! Never: an outcome that a model chose.

mod advice;
mod cluster;
mod complaint;
mod completion;
mod flows;
mod host;
mod outcome;
mod replace;

pub use advice::{accepted, advised};
pub use completion::{Claim, CompletionCheck, capped, completion};
pub use outcome::{Coverage, close, outcome};
use replace::left_as_it_was;
pub(crate) use replace::{replaced, replacement, stands};
