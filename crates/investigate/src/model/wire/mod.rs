//! What every provider that is reached over HTTP shares: one client, bounded bodies, events, errors, retries.
//!
//! Goes in: a request of a provider and what its documentation says about errors. Comes out: events, or an error with a class.
//! Never: a key in a text, a redirect that is followed, a body without a bound, a host that the configuration forbids.

mod address;
mod body;
mod client;
mod egress;
mod info;
mod retry;
mod sse;
mod status;

pub use client::Timeouts;
pub(crate) use client::{Client, Endpoint, Key};
pub use egress::{BuildError, Egress};
pub use retry::Retries;
pub(crate) use retry::attempts;
pub(crate) use status::{Class, Failed};
