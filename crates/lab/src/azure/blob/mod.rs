//! Blob storage of the cloud's accounts.
//!
//! Goes in: a request to an account's blob endpoint, by host name or with the account as first segment of the path. Comes out: what
//! the service answers: bytes, XML, an error code in a header. Never: an access that keys, tokens and network rules do not give, more
//! than 512 MiB or 20,000 blobs in memory (then 413), a wait.
//!
//! The way of a request: `place` (which account, container, blob) → `account` (who asks: `token`, `sign`, `sas`; from where: `gate`)
//! → `container`, `read`, `write`, `block` on the `store`. There are block blobs alone: no page and append blobs, no snapshots,
//! leases and copies.

mod account;
mod answer;
mod block;
mod condition;
mod container;
mod gate;
mod list;
mod place;
mod read;
mod sas;
mod sign;
mod store;
mod trouble;
mod write;

pub use account::Role;
pub(super) use answer::OPERATOR;
pub use gate::From;
pub(super) use gate::{account, lets_in, public};
pub(super) use place::is_container;
pub use sign::signed;
pub(super) use store::Store;
