//! Filters with a language of their own: a program in one has to be understood whole, or the command asks.
//!
//! Goes in: the words behind `awk`, `sed` or `jq`. Comes out: nothing, or what is wrong with them. Never: a program that
//! was understood in part.

mod awk;
mod jq;
mod scan;
mod sed;

pub(super) use awk::check as awk;
pub(super) use jq::check as jq;
pub(super) use sed::check as sed;
