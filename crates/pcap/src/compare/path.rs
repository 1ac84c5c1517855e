//! What is told of the way between both places.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use super::alter::FIELDS;
use super::clock::How;
use super::trip::Trip;
use super::verdict::{Verdict, percentile};
use crate::flow::{Figures, percent};

/// The way between the first capture and the second.
#[derive(Debug, Clone, Serialize)]
pub struct Path {
    /// What all conversations together say.
    pub verdict: Overall,
    /// How sure that is.
    pub confidence: Confidence,
    /// What makes it less sure.
    pub because: Vec<String>,
    /// All of it in one sentence.
    pub sentence: String,
    /// The clocks.
    pub clock: ClockFacts,
    /// When which place captured.
    pub window: WindowFacts,
    /// Conversations begin at B: the captures were probably named in the wrong order.
    pub swapped: bool,
    /// Packets that pass A first.
    pub to_b: TripFacts,
    /// Packets that pass B first.
    pub to_a: TripFacts,
    /// How many conversations came out how.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// The worst conversations, then the largest.
    pub flows: Vec<FlowFacts>,
    /// What to do next.
    pub next: Vec<String>,
}

/// What all conversations together say of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Overall {
    /// Everything that was sent arrived.
    CleanPath,
    /// Some did not.
    PartialDrop,
    /// Nothing did.
    FullDrop,
    /// It arrives late, more than once, or with resets of somebody else.
    Degraded,
    /// One direction does not pass one of the places.
    Asymmetric,
    /// The captures have nothing in common that could be judged.
    Inconclusive,
}

impl Overall {
    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CleanPath => "CLEAN PATH",
            Self::PartialDrop => "PARTIAL DROP",
            Self::FullDrop => "FULL DROP",
            Self::Degraded => "DEGRADED",
            Self::Asymmetric => "ASYMMETRIC",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// How sure something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Confidence {
    /// Little speaks for it.
    Low,
    /// Something limits it.
    Medium,
    /// Nothing that is known speaks against it.
    High,
}

impl Confidence {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

/// The clocks of both places.
#[derive(Debug, Clone, Serialize)]
pub struct ClockFacts {
    /// What it was told from.
    pub from: How,
    /// How much B's clock says more than A's.
    pub offset_ms: f64,
    /// By how much that may be off: half the round trip between the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertain_ms: Option<f64>,
    /// How fast it changes, in millionths; 0 where no change is beyond doubt.
    pub drift_ppm: f64,
    /// By how much that may be off.
    pub drift_uncertain_ppm: f64,
    /// The least time from one place to the other and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<f64>,
    /// Packets that told it.
    pub packets: u64,
}

/// When which place captured, by the clock of A.
#[derive(Debug, Clone, Serialize)]
pub struct WindowFacts {
    /// How long both did.
    pub common_s: f64,
    /// By how much B begins later than A.
    pub b_begins_later_s: f64,
    /// By how much it ends earlier.
    pub b_ends_earlier_s: f64,
}

/// One direction.
#[derive(Debug, Clone, Serialize)]
pub struct TripFacts {
    /// Packets that passed the first place while the second one captured.
    pub sent: u64,
    /// Of those, arrived.
    pub arrived: u64,
    /// Of those, did not.
    pub lost: u64,
    /// The same in percent.
    pub lost_pct: f64,
    /// Lost segments that were sent again and arrived then.
    #[serde(skip_serializing_if = "none")]
    pub recovered: u64,
    /// Segments that were sent again, lost or not.
    #[serde(skip_serializing_if = "none")]
    pub sent_again: u64,
    /// Passed the first place when the second one did not capture; they are not judged.
    #[serde(skip_serializing_if = "none")]
    pub outside: u64,
    /// Arrived without having passed the first place.
    #[serde(skip_serializing_if = "none")]
    pub unseen: u64,
    /// Arrived more than once.
    #[serde(skip_serializing_if = "none")]
    pub duplicated: u64,
    /// Shown twice by a mirror at the first place; they are not counted as sent.
    #[serde(skip_serializing_if = "none")]
    pub mirrored: u64,
    /// Arrived after one that was sent later.
    #[serde(skip_serializing_if = "none")]
    pub reordered: u64,
    /// Arrived in other pieces, as cards cut and join them.
    #[serde(skip_serializing_if = "none")]
    pub in_pieces: u64,
    /// How many were rewritten on the way, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub altered: BTreeMap<&'static str, u64>,
    /// Routers between the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<u8>,
    /// How long they took, as far as the clocks are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<Figures>,
    /// How long they waited: what they took more than the fastest one. No clock is needed for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_ms: Option<Figures>,
    /// The first frames that were lost, in the capture that they passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_frames: Vec<u32>,
}

/// One conversation.
#[derive(Debug, Clone, Serialize)]
pub struct FlowFacts {
    /// What it speaks.
    pub protocol: String,
    /// Who asks.
    pub client: SocketAddr,
    /// Who is asked.
    pub server: SocketAddr,
    /// The same at the other place, where addresses or ports are translated on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translated: Option<(SocketAddr, SocketAddr)>,
    /// The place that the client's packets pass first.
    pub near: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// The same in words.
    pub words: String,
    /// From client to server.
    pub there: TripFacts,
    /// From server to client.
    pub back: TripFacts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn none(count: &u64) -> bool {
    *count == 0
}

impl TripFacts {
    /// Tells of a trip whose delays are in order.
    pub(super) fn of(trip: &Trip) -> Self {
        let least = trip.delays.first().copied().unwrap_or(0);
        let changed = FIELDS.iter().copied().zip(trip.changed).filter(|(_, count)| *count > 0);
        Self {
            sent: trip.sent,
            arrived: trip.arrived,
            lost: trip.lost,
            lost_pct: percent(trip.lost, trip.sent),
            recovered: trip.recovered,
            sent_again: trip.again,
            outside: trip.outside,
            unseen: trip.unseen,
            duplicated: trip.duplicated,
            mirrored: trip.copies,
            reordered: trip.reordered,
            in_pieces: trip.pieces,
            altered: changed.collect(),
            routers: trip.hops,
            delay_ms: figures(&trip.delays, 0),
            queueing_ms: figures(&trip.delays, least),
            lost_frames: trip.frames.clone(),
        }
    }
}

fn figures(sorted: &[i64], less: i64) -> Option<Figures> {
    let at = |percent: usize| Some(milli(percentile(sorted, percent)? - less));
    Some(Figures {
        min: milli(sorted.first()? - less),
        p50: at(50)?,
        p90: at(90)?,
        p99: at(99)?,
        max: milli(sorted.last()? - less),
        samples: sorted.len() as u64,
    })
}

/// Returns milliseconds with three digits.
pub(super) fn milli(nanos: i64) -> f64 {
    (nanos as f64 / 1000.0).round() / 1000.0
}
