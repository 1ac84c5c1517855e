//! What the platform makes of a document that somebody sends: read-only fields, defaults, refusals.

mod firewall;
mod group;
mod interface;
mod network;
mod peering;
mod reference;
mod shaped;
mod subnet;
mod table;

pub(in crate::azure) use group::defaults as default_rules;
pub(super) use reference::removable;
pub(in crate::azure) use shaped::guid;
pub(super) use shaped::shaped;
