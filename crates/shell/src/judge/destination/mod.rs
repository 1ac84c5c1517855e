//! What a SAFE command would send something to, or look up.
//!
//! Goes in: a text whose every command is SAFE, and the policy. Comes out: each host, address or name in it, in the order of the
//! text, once. Never: a place left out because its words could not be read; then every word of the command is one.

mod extract;
mod filter;
mod hold;
mod read;
#[cfg(test)]
mod tests;

pub(super) use extract::destinations;
