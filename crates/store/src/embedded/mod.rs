//! One file, one process: the store of a single host and of the demo.
//!
//! Every write is one transaction of the database, on the disk before it is answered. Waiting for the disk happens on threads
//! that may block.

mod approval;
mod claim;
mod dispatch;
mod lease;
mod ledger;
mod open;
mod shared_state;
mod table;

pub use open::Store;
