//! `ghost effective`: what changed in the routes and rules of network interfaces.
//!
//! Goes in: what `az` printed, or snapshots of it. Comes out: snapshots below the data folder, a comparison, a certificate.
//! Never: a call of `az` itself, a snapshot that takes the place of another.

mod command;
mod compare;
mod diff;
mod given;
mod judge;
mod place;
mod snapshot;
mod text;
mod verify;

pub use command::{Arguments, run};
