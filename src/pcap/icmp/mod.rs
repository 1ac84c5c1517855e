//! ICMP and `ICMPv6`.

mod tally;

pub(super) use tally::{Complaint, Heard, Tally};
