//! What a resource group consists of: machines, interfaces, networks, security groups, route tables; who owns an address.
//!
//! Goes in: five lists as `az` prints them. Comes out: one typed document. Never: an unreadable list, reported as an empty one.

mod document;
mod operation;
mod read;

pub use document::{
    Address, Machine, Network, Nic, Peering, Route, RouteTable, Rule, SecurityGroup, Subnet, Topology, Unread,
};
pub use operation::TopologyOperation;
