//! A Redis or Valkey server, from 6.2 on: the store that several hosts share.
//!
//! Every write is one script on the keys of one session; the server's own time decides about leases.

mod approval;
mod connect;
mod dispatch;
mod inbox;
mod key;
mod lease;
mod ledger;
mod script;

pub use connect::{Place, Store};
