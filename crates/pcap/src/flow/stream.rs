//! The facts of one TCP stream.

use std::net::SocketAddr;

use serde::Serialize;

use super::direction::DirectionFacts;
use super::state::{ResetFacts, State, state};
use crate::histogram::Histogram;
use crate::label::Label;
use crate::summary::IcmpErrorFacts;
use crate::tcp::Flow;

/// A connection in answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TcpStreamFacts {
    /// Its number, in order of first packets.
    pub stream: u64,
    /// The end that spoke first.
    pub a: SocketAddr,
    /// The other one.
    pub b: SocketAddr,
    /// How far it came.
    pub state: State,
    /// Packets of both directions.
    pub packets: u64,
    /// Bytes that they carried, without headers.
    pub bytes: u64,
    /// Of all packets that carried something, how many were sent again.
    pub retransmission_pct: f64,
    /// Round trips by Karn's rule: only what was sent once is measured. From here to the farther end and back; each end's own
    /// stand with the direction that it acknowledges.
    pub rtt_ms: Option<Percentiles>,
    /// From the SYN to the first acknowledgment.
    pub handshake_ms: Option<f64>,
    /// The end whose FIN or RST came first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<SocketAddr>,
    /// The first reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<ResetFacts>,
    /// Two VLANs in which the same direction was seen; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlans: Option<(u16, u16)>,
    /// What the end that spoke first sent.
    pub a_to_b: DirectionFacts,
    /// What the other one sent.
    pub b_to_a: DirectionFacts,
    /// Where it begins.
    pub first_frame: u64,
    /// How long it was seen.
    pub duration_s: f64,
    /// What went wrong, in words and numbers.
    pub trouble: Vec<ExpertInfo>,
    /// The first frames in which something went wrong.
    pub frames: Vec<u64>,
    /// What a router or the other end said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "complaint")]
    pub icmp_error: Option<IcmpErrorFacts>,
}

/// A kind of trouble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpertInfo {
    /// The name of the count.
    pub kind: &'static str,
    /// How often.
    pub count: u32,
}

/// A spread in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// The smallest.
    pub min: f64,
    /// Half of them are below.
    pub p50: f64,
    /// Nine of ten are below.
    pub p90: f64,
    /// All but one of a hundred are below.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// How many there were.
    pub samples: u64,
}

impl Percentiles {
    pub(crate) fn of(spread: &Histogram) -> Option<Self> {
        (spread.count() > 0).then(|| Self {
            min: ms(spread.min()),
            p50: ms(spread.percentile(50)),
            p90: ms(spread.percentile(90)),
            p99: ms(spread.percentile(99)),
            max: ms(spread.max()),
            samples: spread.count(),
        })
    }
}

/// Returns milliseconds with three digits.
pub(crate) fn ms(nanos: u64) -> f64 {
    (nanos as f64 / 1000.0).round() / 1000.0
}

/// What counts as trouble of a flow, and what merely happens.
const EXPERT_INFO_WEIGHTS: [(Label, u32); 10] = [
    (Label::Retransmission, 4),
    (Label::FastRetransmission, 0),
    (Label::SpuriousRetransmission, 0),
    (Label::OutOfOrder, 2),
    (Label::DuplicateAck, 1),
    (Label::LostSegment, 3),
    (Label::AckLostSegment, 2),
    (Label::ZeroWindow, 5),
    (Label::WindowFull, 2),
    (Label::ZeroWindowProbe, 3),
];

impl TcpStreamFacts {
    pub(super) fn of(flow: &Flow) -> Self {
        let (first, second) = flow.ends.sockets();
        let (a, b) = if flow.flipped { (second, first) } else { (first, second) };
        let side = |flipped: bool| if flipped { second } else { first };
        let (a_to_b, b_to_a) = (direction(flow, flow.flipped), direction(flow, !flow.flipped));
        let [left, right] = &flow.sides;
        let carrying = left.carrying + right.carrying;
        let again = left.again + right.again;
        let trouble = EXPERT_INFO_WEIGHTS
            .iter()
            .map(|(label, _)| ExpertInfo { kind: label.name(), count: flow.label_count(*label) })
            .filter(|trouble| trouble.count > 0)
            .collect();
        Self {
            stream: flow.stream,
            a,
            b,
            state: state(flow),
            packets: left.packets + right.packets,
            bytes: left.bytes + right.bytes,
            retransmission_pct: percent(u64::from(again), u64::from(carrying)),
            rtt_ms: farther(a_to_b.rtt_ms, b_to_a.rtt_ms),
            handshake_ms: flow.handshake().map(ms),
            closed_by: flow.turns.ended_by.map(side),
            reset: flow.reset.as_deref().map(|reset| ResetFacts::of(reset, side(reset.flipped))),
            vlans: flow.vlans,
            a_to_b,
            b_to_a,
            first_frame: flow.first_frame,
            duration_s: ms(flow.last_time.saturating_sub(flow.first_time)) / 1000.0,
            trouble,
            frames: flow.evidence.into_iter().filter(|frame| *frame > 0).collect(),
            icmp_error: None,
        }
    }
}

fn direction(flow: &Flow, flipped: bool) -> DirectionFacts {
    let ([first, second], end) = (&flow.sides, flow.last_time);
    let (side, other) = if flipped { (second, first) } else { (first, second) };
    let rtts = flow.rtts.as_deref().and_then(|[one, two]| Percentiles::of(if flipped { two } else { one }));
    DirectionFacts {
        rtt_ms: rtts,
        ..DirectionFacts::of(
            side,
            flow.direction(flipped),
            flow.retransmissions(flipped),
            other.packets > 0,
            end,
        )
    }
}

/// Returns the round trips of the end that is farther away.
fn farther(one: Option<Percentiles>, other: Option<Percentiles>) -> Option<Percentiles> {
    match (one, other) {
        (Some(one), Some(other)) if other.p50 > one.p50 => Some(other),
        (one, other) => one.or(other),
    }
}

/// Returns a percentage with two digits.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 * 10_000.0 / whole as f64).round() / 100.0
}

/// Returns how much trouble a connection had: what comes first in answers.
pub(crate) fn trouble_score(flow: &Flow) -> u64 {
    let marked: u64 = EXPERT_INFO_WEIGHTS
        .iter()
        .map(|(label, trouble_score)| u64::from(flow.label_count(*label)) * u64::from(*trouble_score))
        .sum();
    let ended = match state(flow) {
        State::SynSent | State::Refused | State::Filtered | State::Unreachable => 20,
        State::HalfOpen => 10,
        State::Reset => 5,
        State::Established | State::Closing | State::Closed | State::Unidirectional => 0,
    };
    marked + ended
}
