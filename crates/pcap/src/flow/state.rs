//! How far a connection came.

use serde::Serialize;

use crate::tcp::{FIN, Flow};

/// How far a connection came, as far as was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was asked for, and nothing came back.
    SynSent,
    /// It was asked for, and a filter on the way forbids it, as an ICMP error says.
    Filtered,
    /// It was asked for, and there is no way, as an ICMP error says.
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
    OneWay,
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
            Self::OneWay => "one_way",
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
        match turns.barred {
            Some(barred) if barred.filtered => State::Filtered,
            Some(_) => State::Unreachable,
            None => State::SynSent,
        }
    } else if turns.asked && turns.accepted && !turns.opened {
        State::HalfOpen
    } else if silent {
        State::OneWay
    } else if fins == 1 {
        State::Closing
    } else {
        State::Established
    }
}
