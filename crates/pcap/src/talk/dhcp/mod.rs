//! DHCP of both versions: who asks for an address, and who gives one.

mod message;
mod tally;

pub(crate) use tally::Tally;
