//! Hides the addresses of a network from a model without hiding how they belong together.
//!
//! Goes in: text with real addresses, or with masked ones. Comes out: the same text with the other kind. Never: an
//! address outside the block it was in, a different answer for the same key, a loss: what was masked can be unmasked.
//!
//! Two addresses that share their first n bits share the first n bits of their masks, so subnets stay subnets and a
//! longest-prefix match stays one (the idea of Crypto-PAn, with SHA-256 as the function that flips the bits).
//!
//! - Masked: 10/8, 172.16/12, 192.168/16, 100.64/10 and fc00::/7, each inside its own block.
//! - Left alone: everything else. A public address says whom to ask, and a flipped one would be someone else's;
//!   loopback, link-local, multicast, netmasks and 168.63.129.16 mean the same in every network.
//! - Left alone too: text that only resembles an address, such as a version of five numbers or digits inside a word.

mod address;
mod session;
#[cfg(test)]
mod tests;
mod text;

pub use session::Mask;
