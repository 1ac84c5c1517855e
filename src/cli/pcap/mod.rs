//! `ghost pcap`: what happened on a network, from captures.
//!
//! Goes in: files, standard input. Comes out: an account or a comparison, as JSON, as text, as files. Never: a capture that is
//! changed, bytes of a payload.

mod analyze;
mod command;
mod compare;
mod follow;
mod growing;
mod keep;
mod out;
mod progress;
mod source;

pub(super) use command::{Arguments, run};
pub(in crate::cli) use source::{opened, refused};
