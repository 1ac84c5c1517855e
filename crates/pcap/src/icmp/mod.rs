//! ICMP and `ICMPv6`: what routers and hosts complain about, and pings.

mod echo;
mod mtu;
mod name;
mod quoted;
mod tally;
#[cfg(test)]
mod tests;
mod trace;

pub(super) use echo::Echo;
pub(super) use mtu::Limits;
pub(super) use name::name;
pub(super) use quoted::{Quoted, Said};
pub(super) use tally::{Complaint, Heard, Tally};
pub(super) use trace::{Router, Traces};
