//! The state of a TCP stream, and the facts of its reset.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use crate::tcp::{FIN, Flow, Origin, Phase, Reset};

/// How far a connection came, as far as was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was asked for, and nothing came back.
    SynSent,
    /// It was asked for, and a filter on the path forbids it, as an ICMP error says.
    Filtered,
    /// It was asked for, and there is no route, as an ICMP error says.
    Unreachable,
    /// It was asked for, and the other end reset it.
    Refused,
    /// It was accepted, and that was never acknowledged.
    HalfOpen,
    /// Both ends talk.
    Established,
    /// One end has said its last.
    Closing,
    /// Both have.
    Closed,
    /// It was reset.
    Reset,
    /// Only one direction was seen.
    Unidirectional,
}

impl State {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SynSent => "syn_sent",
            Self::Filtered => "filtered",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::HalfOpen => "half_open",
            Self::Established => "established",
            Self::Closing => "closing",
            Self::Closed => "closed",
            Self::Reset => "reset",
            Self::Unidirectional => "one_way",
        }
    }
}

/// Returns how far a connection came.
pub(crate) fn state(flow: &Flow) -> State {
    let turns = flow.turns;
    let [first, second] = &flow.sides;
    let fins = u8::from(first.flags & FIN != 0) + u8::from(second.flags & FIN != 0);
    let silent = first.packets == 0 || second.packets == 0;
    if turns.refused && !turns.accepted {
        State::Refused
    } else if fins == 2 {
        State::Closed
    } else if turns.reset_frame > 0 {
        State::Reset
    } else if turns.asked
        && !turns.accepted
        && silent
        && first.packets + second.packets
            == u64::from(turns.syns) + u64::from(first.copies) + u64::from(second.copies)
    {
        match turns.rejection {
            Some(rejection) if rejection.filtered => State::Filtered,
            Some(_) => State::Unreachable,
            None => State::SynSent,
        }
    } else if turns.asked && turns.accepted && !turns.opened {
        State::HalfOpen
    } else if silent {
        State::Unidirectional
    } else if fins == 1 {
        State::Closing
    } else {
        State::Established
    }
}

/// A reset, and who wrote it as far as its bytes tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResetFacts {
    /// The end that it names as its sender.
    pub by: SocketAddr,
    /// The number of the frame, from 1.
    pub frame: u64,
    /// `endpoint`, `middlebox_likely` or `unclear`.
    pub origin: &'static str,
    /// `syn`: in answer to one; `start`: before or right after the sender's first data; `later`;
    /// `closing`: after a FIN.
    pub when: &'static str,
    /// What that rests on, in numbers; what cannot be compared is not there.
    pub reasons: BTreeMap<&'static str, f64>,
}

impl ResetFacts {
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
    if reset.packets_after > 0 {
        found.insert("packets_after", f64::from(reset.packets_after));
    }
    if let Some((_, later)) = reset.back {
        found.insert("other_end_reset_after_ms", super::stream::ms(later));
    }
    found
}
