//! Header decoding, from the link layer to the innermost header. Only fragments are remembered between frames.

mod fragment;
mod header;
mod ip;
mod link;
#[cfg(test)]
mod tests;
mod transport;
mod tunnel;
mod walk;

pub(super) use fragment::FragmentCounts;
pub(super) use header::IpPair;
pub(super) use header::View;
pub(super) use header::{Arp, HeaderContext, Quote, Sink};
pub(super) use walk::Walker;
