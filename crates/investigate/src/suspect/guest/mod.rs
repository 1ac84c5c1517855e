//! A guest's packet filter: what it stops, and which fault that is.
//!
//! Goes in: the rulesets of a host. Comes out: every place that stops packets and has a name in the contract. Never: a rule that no
//! packet meets, what every sane filter drops (packets of no connection, forged loopback addresses), a container engine's own walls.

mod native;
mod rule;
mod save;
mod stop;

pub(crate) use stop::{Stop, deciding, stops};

#[cfg(test)]
mod tests;
