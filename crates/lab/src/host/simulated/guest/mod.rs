//! A machine from inside: what it does with packets, and what scripts find and change.
//!
//! A machine is like Ubuntu 22.04: iptables 1.8.7, nftables 1.0.2, iproute2 5.15. Not modeled: counters of classes without a discipline of
//! their own, connections that are
//! tracked, sets of `ipset`, other match modules than those of `firewall::module`, policy rules and tables of routes beside `main`, `nft add
//! rule` into a table that `iptables-nft` keeps. A rate of `-m limit` is never reached, and every program belongs to root.

mod firewall;
mod machine;
mod route;
mod shaper;

pub(in crate::host::simulated) use firewall::{Backend, Command, Refusal, Side};
pub(in crate::host) use machine::{Count, Guest, PacketVerdict, Shaping};
pub(in crate::host) use route::Route;
pub(in crate::host::simulated) use shaper::Form;
