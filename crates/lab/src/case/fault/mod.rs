//! Everything that can be wrong, one type each: what a file says about it, whether that can be, what is found when it is there.
//!
//! Goes in: tables of a case file. Comes out: typed faults, problems with them, pairs. Never: an estate, a host.

mod any;
mod check;
mod cloud;
mod firewall;
mod odd;
mod owner;
mod pair;
mod shaping;

pub(super) use any::{CLUSTER_CODES, DOCUMENT_CODES};
pub use any::{CODES, Fault};
pub(super) use check::{group, instant, interface, machine, name, port, vnet};
pub use cloud::{
    Access, Direction, Hop, MachineStopped, NsgRule, Peering, Route, ServiceEndpoint, StorageFirewall,
};
pub use firewall::{Chain, Family, Iptables, Policy, Target, Verdict};
pub use odd::{ArpConflict, Asymmetric, Dns, DnsDoes, PathMtu, PortClosed, PortSilent};
pub use owner::{Docker, Fail2ban, Nft, NftVerdict};
pub use shaping::{Netem, RateLimit};
