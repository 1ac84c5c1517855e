//! Who owns which address on a link: ARP, and neighbor discovery of `IPv6`.

mod message;
mod stats;
#[cfg(test)]
mod tests;

pub(super) use message::{FrameContext, NeighborMessage};
pub(super) use stats::{Address, NeighborStats};
