//! What happens to packets between machines, and the programs that ask about it.
//!
//! Goes in: the world (fabric, stage, guests, seed, time), a program's words, a capture that is over. Comes out: what the program
//! prints, how long it took, a classic pcap. Never: a number that does not follow from the path, a draw that is not from the seed.
//!
//! `path` walks a packet through firewalls, rules and routes; `play` plays conversations packet by packet; `tool` are the programs;
//! `capture` writes what a machine saw; `journal` remembers what was said, so that captures show it.
//!
//! *What is simpler than life*
//! - The path of a conversation is found for its first packet and the first answer; rules that tell later packets apart are not asked.
//! - Bulk transfers are measured by a formula (`tool/rate`), and their connections are played, and so captured, up to a number of packets.
//! - Traffic of the stage is as the world is when a capture ends; what scripts caused is as it was then.
//! - Outside, only the names and addresses of `path/internet` are known, and the storage accounts of the fabric.

mod capture;
mod chance;
mod conversation;
mod count;
mod dial;
mod journal;
mod net;
mod path;
#[cfg(test)]
mod tests;
mod tool;

pub(in crate::host) use capture::pcap;
pub(in crate::host) use count::settle;
pub(in crate::host) use dial::{FirstPacket, dial, reaches};
pub(in crate::host) use journal::Journal;
pub(in crate::host) use path::{all_health, session};
pub(in crate::host) use tool::{call, prints_to};
