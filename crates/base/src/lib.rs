//! What every crate may use: time, identifiers, digests, limits, errors in one line and files that appear whole
//! or not at all.
//!
//! Goes in: nothing of Ghost. Comes out: small values. Never: another crate's vocabulary, a network, a process.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod causes;
mod clock;
mod digest;
mod file;
mod id;
mod limit;
mod mac;
mod secret;

pub use causes::causes;
pub use clock::{Clock, ManualClock, MomentError, SystemClock, Timestamp};
pub use digest::{Digest, DigestError};
pub use file::{private_dir, write_private, write_private_new};
pub use id::{IdError, SessionId, is_drawn};
pub use limit::Limit;
pub use mac::{hmac_sha256, same};
pub use secret::Secret;
