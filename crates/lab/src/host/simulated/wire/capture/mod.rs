//! What a machine saw on its devices: a classic pcap, Ethernet, microseconds.
//!
//! A packet is seen after the sender's shaping and before the receiver's firewall. Both ends of a conversation see the same bytes.

mod arp;
mod dns;
mod file;
mod filter;
mod frame;
mod header;
mod payload;
#[cfg(test)]
mod tests;
mod traffic;

pub(super) use dns::question;
pub(in crate::host) use file::pcap;
pub(super) use traffic::conversations;
