//! What the words of people mean in the network that was found.
//!
//! Goes in: what was said, and the topology as far as it was read. Comes out: machines, who calls whom, accounts, the resource group.
//! Never: a machine that neither the topology nor the words name.

mod named;
mod read;
mod resources;
mod roles;
mod word;

pub(super) use read::{IncidentContext, Machine, is_plain};
