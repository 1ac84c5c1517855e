//! `ghost config`: is the configuration right, does everything answer that it names, and what does this machine offer?
//!
//! Goes in: the configuration. Comes out: one finding for each part, all of them at once. Never: a secret in a finding; a
//! change to anything; a question without a time limit.

#[cfg(feature = "session")]
mod approval;
#[cfg(all(feature = "cloud", feature = "session"))]
mod cloud;
mod command;
mod finding;
mod machine;
#[cfg(feature = "measure")]
mod measuring;
#[cfg(feature = "session")]
mod model;
#[cfg(all(feature = "cloud", feature = "session"))]
mod permission;
#[cfg(feature = "bot")]
mod slack;
#[cfg(feature = "store")]
mod store;

pub(super) use command::{Arguments, run};
