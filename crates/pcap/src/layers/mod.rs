//! From the link to the innermost header. Nothing is remembered from frame to frame but fragments.

mod ether;
mod fragment;
mod ip4;
mod ip6;
mod link;
mod net;
mod port;
mod shim;
mod sink;
#[cfg(test)]
mod tests;
mod transport;
mod tunnel;
mod view;
mod walk;

pub(super) use fragment::Pair;
pub(super) use net::Net;
pub(super) use sink::{Arp, Place, Quote, Sink};
pub(super) use view::View;
pub(super) use walk::Walker;
