//! What the configuration comes to at an interface: routes, and the rules of both gates.
//!
//! Goes in: the estate and an interface. Comes out: the platform's documents. Never: a row that no configuration explains.

mod nic;
mod routes;
mod rules;
pub(super) mod tag;

pub(super) use nic::{Neighbor, Nic, by_machine, neighbors, platform_tag, space};
pub(super) use routes::routes;
pub(super) use rules::rules;
