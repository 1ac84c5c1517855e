//! DHCP of both versions: who asks for an address, and who gives one.

mod message;
mod stats;

pub(crate) use stats::DhcpStats;
