//! How what happened reaches an app: over a socket, or as a signed request; and again where nobody acknowledged.

mod fault;
mod post;
mod send;
mod signature;
mod socket;
mod timing;

pub(super) use fault::{Faults, Hit};
pub(super) use post::{Carrier, verify_url};
pub(super) use send::Answered;
pub(super) use socket::{Sockets, open};
pub use timing::Timing;
