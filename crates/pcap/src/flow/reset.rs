//! What is told of a reset.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use crate::tcp::{Origin, Phase, Reset};

/// A reset, and who wrote it as far as its bytes tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cut {
    /// The end that it names as its sender.
    pub by: SocketAddr,
    /// Its frame.
    pub frame: u64,
    /// `endpoint`, `middlebox_likely` or `unclear`.
    pub origin: &'static str,
    /// `syn`: in answer to one; `start`: before or right after the sender's first data; `later`;
    /// `closing`: after a FIN.
    pub when: &'static str,
    /// What that rests on, in numbers; what cannot be compared is not there.
    pub reasons: BTreeMap<&'static str, f64>,
}

impl Cut {
    pub(super) fn of(reset: &Reset, by: SocketAddr) -> Self {
        Self {
            by,
            frame: reset.frame,
            origin: match reset.origin() {
                Origin::Endpoint => "endpoint",
                Origin::MiddleboxLikely => "middlebox_likely",
                Origin::Unclear => "unclear",
            },
            when: match reset.phase {
                Phase::Syn => "syn",
                Phase::Start => "start",
                Phase::Later => "later",
                Phase::Closing => "closing",
            },
            reasons: reasons(reset),
        }
    }
}

/// Returns what can be compared between a reset and its sender's other packets.
pub(crate) fn reasons(reset: &Reset) -> BTreeMap<&'static str, f64> {
    let flag = |set: bool| if set { 1.0 } else { 0.0 };
    let mut found = BTreeMap::from([("with_ack", flag(reset.with_ack)), ("resets", f64::from(reset.times))]);
    if reset.hops_off().is_some() {
        found.insert("usual_hops", f64::from(reset.hops.0));
        found.insert("hops", f64::from(reset.hops.1));
    }
    if let Some(off) = reset.id_off {
        found.insert("ip_id_off", f64::from(off));
    }
    if let Some(off) = reset.seq_off {
        found.insert("seq_off", f64::from(off));
        found.insert("in_window", flag(reset.in_window));
    }
    if reset.went_on > 0 {
        found.insert("packets_after", f64::from(reset.went_on));
    }
    if let Some((_, later)) = reset.back {
        found.insert("other_end_reset_after_ms", super::told::ms(later));
    }
    found
}
