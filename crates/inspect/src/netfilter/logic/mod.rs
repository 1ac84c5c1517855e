//! What rules mean: tests over the fields of a packet, in three values.
//!
//! Goes in: a ruleset. Comes out: a program of chains, whose tests are exact sets of values or marked as unknown. Never: a test
//! that says "no" because it was not understood.

mod address;
mod compare;
mod index;
mod iptables;
mod map;
mod name;
mod names;
mod nftables;
mod operand;
mod program;
mod scope;
mod span;
mod target;
mod test;

pub(super) use address::{number as address_number, prefix as address_prefix};
pub(super) use index::Known;
pub(super) use name::{
    icmp_type as icmp_number, mark as mark_number, port as port_number, protocol_number, tcp_flag,
};
pub(super) use names::Names;
pub(super) use program::{Change, Code, Program, ProgramStep, compile};
pub(super) use span::Spans;
pub(super) use test::{Field, Test};
