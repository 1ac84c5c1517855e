//! Verdicts about one packet, from documents: routes, security groups, packet filters, traffic shaping.
//!
//! Goes in: what a cloud, `iptables-save`, `nft` or `tc` printed. Comes out: a verdict with its reason, and what could not be read.
//! Never: input or output, a clock, a certain answer from a part of the truth.
#![warn(missing_docs)]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod changes;
pub mod cluster;
pub mod effective;
pub mod flowlog;
pub mod forecast;
pub mod host;
pub mod measured;
pub mod net;
pub mod netfilter;
pub mod nsg;
pub mod path;
pub mod qdisc;
pub mod route;
