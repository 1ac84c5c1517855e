//! Redis or Valkey, from 6.2 on: the store that several hosts share, on one server, a cluster, or the master that sentinels name.
//!
//! Every write is one script on the keys of one session; the server's own time decides about leases.

mod address;
mod approval;
mod claim;
mod cluster;
mod config;
mod confirm;
mod connect;
mod dispatch;
mod key;
mod lease;
mod ledger;
mod script;
mod sentinel;
mod shared_state;
mod wire;

pub use config::RedisConfig;
pub use connect::Store;
