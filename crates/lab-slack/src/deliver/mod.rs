//! How what happened reaches an app: over a socket, or as a signed request; and again where nobody acknowledged.

mod fault;
mod http;
mod send;
mod socket;
mod timing;

pub(super) use fault::{FaultEffect, Faults};
pub(super) use http::{HttpSender, verify_url};
pub(super) use send::AppAnswer;
pub(super) use socket::{Sockets, open};
pub use timing::Timing;
