//! Ghost investigates cloud network incidents behind a deterministic safety shell.
//!
//! Every room of the house is a module behind its own feature, usable alone:
//!
//! - [`agent`]: the investigation itself, as a fold over recorded events, and the ports to the models.
//! - [`bot`]: the Slack bot, which puts the rooms together.
//! - [`capture`]: packet captures of the platform, from the first look to what is cleaned up.
//! - [`cloud`]: the cloud, through `az` and the shell.
//! - [`effective`]: what changed in the routes and rules of network interfaces, and proof that nothing did.
//! - [`http`]: whether it lives, whether it is ready, what it counts.
//! - [`lab`]: what Ghost runs against where there is nothing real.
//! - [`meter`]: what `qperf` and `iperf` print, and what a series of runs says.
//! - [`net`]: what the inspectors share: documents, prefixes, service tags, exact sets.
//! - [`netfilter`]: what a packet filter does to a packet, and what a change of it does to traffic.
//! - [`nsg`]: which security rule decides over a packet, and who reaches what.
//! - [`pcap`]: what a capture shows, in one pass.
//! - [`probe`]: looking into a running guest.
//! - [`qdisc`]: what traffic shaping does to packets, from what `tc` prints.
//! - [`route`]: which effective route carries a packet.
//! - [`session`]: one owner drives one session, and every step is durable before its effect.
//! - [`shell`]: the gate between any agent and a machine.
//! - [`slack`]: connections, calls, blocks, and what arrives.
//! - [`store`]: sessions, approvals and leases that outlive a process.

#[cfg(feature = "agent")]
pub mod agent;
pub mod base;
#[cfg(feature = "bot")]
pub mod bot;
#[cfg(feature = "capture")]
pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cloud")]
pub mod cloud;
#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "effective")]
pub mod effective;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "meter")]
pub mod meter;
#[cfg(any(feature = "nsg", feature = "route"))]
pub mod net;
#[cfg(feature = "netfilter")]
pub mod netfilter;
#[cfg(feature = "nsg")]
pub mod nsg;
#[cfg(feature = "pcap")]
pub mod pcap;
#[cfg(feature = "probe")]
pub mod probe;
#[cfg(feature = "qdisc")]
pub mod qdisc;
#[cfg(feature = "route")]
pub mod route;
#[cfg(feature = "session")]
pub mod session;
#[cfg(feature = "shell")]
pub mod shell;
#[cfg(feature = "slack")]
pub mod slack;
#[cfg(feature = "store")]
pub mod store;
