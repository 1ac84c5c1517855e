//! Blob storage of the cloud's accounts.
//!
//! Goes in: a request to an account's blob endpoint, by host name or with the account as first segment of the path. Comes out: what
//! the service answers: bytes, XML, an error code in a header. Never: an access that keys, tokens and network rules do not give, more
//! than 512 MiB or 20,000 blobs in memory (then 413), a wait.
//!
//! The path of a request: `path` (which account, container, blob) → `account` (who asks: `token`, `sign`, `sas`; from where: `access`)
//! → `container`, `read`, `write`, `block` on the `store`. There are block blobs alone: no page and append blobs, no snapshots,
//! leases and copies.

mod access;
mod account;
mod answer;
mod block;
mod container;
mod list;
mod path;
mod read;
mod sign;
mod store;
mod trouble;
mod write;

pub use access::From;
pub(super) use access::{account, lets_in, public};
pub use account::Role;
pub(super) use answer::OPERATOR;
pub(super) use path::is_container;
pub use sign::signed;
pub(super) use store::Store;
