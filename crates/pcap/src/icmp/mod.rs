//! ICMP and `ICMPv6`: errors, path MTU, traceroutes, pings.

mod echo;
mod name;
mod path_mtu;
mod stats;
#[cfg(test)]
mod tests;
mod traceroute;

pub(super) use echo::Echo;
pub(super) use name::name;
pub(super) use path_mtu::PathMtus;
pub(super) use stats::{IcmpError, IcmpErrorCounts, IcmpStats};
pub(super) use stats::{QuotedError, QuotedErrors};
pub(super) use traceroute::{Router, Traceroutes};
