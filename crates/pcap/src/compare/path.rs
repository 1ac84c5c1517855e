//! The facts of the path between both capture points.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use super::clock::ClockSource;
use super::rewrite::FIELDS;
use super::transit::Transit;
use super::verdict::{ConversationVerdict, percentile};
use crate::flow::{Percentiles, percent};

/// The path between the first capture and the second.
#[derive(Debug, Clone, Serialize)]
pub struct PathFacts {
    /// What all conversations together say.
    pub verdict: PathVerdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// What makes it less sure.
    pub because: Vec<String>,
    /// All of it in one sentence.
    pub sentence: String,
    /// How far the clocks of both captures differ, and how sure that is.
    pub clock: ClockFacts,
    /// When which place captured.
    pub window: OverlapFacts,
    /// Conversations begin at B: the captures were probably named in the wrong order.
    pub swapped: bool,
    /// Packets that pass A first.
    pub to_b: TransitFacts,
    /// Packets that pass B first.
    pub to_a: TransitFacts,
    /// How many conversations came out how.
    pub verdicts: BTreeMap<ConversationVerdict, u64>,
    /// The worst conversations, then the largest.
    pub flows: Vec<ConversationFacts>,
    /// What to do next.
    pub next: Vec<String>,
}

/// What all conversations together say of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PathVerdict {
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

impl PathVerdict {
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
    /// How it was measured.
    pub from: ClockSource,
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
    /// Packets that it was measured with.
    pub packets: u64,
}

/// When which place captured, by the clock of A.
#[derive(Debug, Clone, Serialize)]
pub struct OverlapFacts {
    /// How long both did.
    pub common_s: f64,
    /// By how much B begins later than A.
    pub b_begins_later_s: f64,
    /// By how much it ends earlier.
    pub b_ends_earlier_s: f64,
}

/// One direction.
#[derive(Debug, Clone, Serialize)]
pub struct TransitFacts {
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
    /// Arrived in other segments, as network cards split and join them.
    #[serde(skip_serializing_if = "none")]
    #[serde(rename = "in_pieces")]
    pub resegmented: u64,
    /// How many were rewritten on the path, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub altered: BTreeMap<&'static str, u64>,
    /// Routers between the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<u8>,
    /// How long they took, as far as the clocks are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<Percentiles>,
    /// How long they waited: what they took more than the fastest one. No clock is needed for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_ms: Option<Percentiles>,
    /// The first frames that were lost, in the capture that they passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_frames: Vec<u32>,
}

/// One conversation.
#[derive(Debug, Clone, Serialize)]
pub struct ConversationFacts {
    /// What it speaks.
    pub protocol: String,
    /// Who asks.
    pub client: SocketAddr,
    /// Who is asked.
    pub server: SocketAddr,
    /// The same at the other place, where addresses or ports are translated on the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translated: Option<(SocketAddr, SocketAddr)>,
    /// The place that the client's packets pass first.
    pub near: &'static str,
    /// What became of it.
    pub verdict: ConversationVerdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// The same in words.
    pub words: String,
    /// From client to server.
    pub there: TransitFacts,
    /// From server to client.
    pub back: TransitFacts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn none(count: &u64) -> bool {
    *count == 0
}

impl TransitFacts {
    /// Tells of a trip whose delays are in order.
    pub(super) fn of(transit: &Transit) -> Self {
        let least = transit.delays.first().copied().unwrap_or(0);
        let changed = FIELDS.iter().copied().zip(transit.changed).filter(|(_, count)| *count > 0);
        Self {
            sent: transit.sent,
            arrived: transit.arrived,
            lost: transit.lost,
            lost_pct: percent(transit.lost, transit.sent),
            recovered: transit.recovered,
            sent_again: transit.again,
            outside: transit.outside,
            unseen: transit.unseen,
            duplicated: transit.duplicated,
            mirrored: transit.copies,
            reordered: transit.reordered,
            resegmented: transit.resegmented,
            altered: changed.collect(),
            routers: transit.hops,
            delay_ms: figures(&transit.delays, 0),
            queueing_ms: figures(&transit.delays, least),
            lost_frames: transit.frames.clone(),
        }
    }
}

fn figures(sorted: &[i64], less: i64) -> Option<Percentiles> {
    let at = |percent: usize| Some(milli(percentile(sorted, percent)? - less));
    Some(Percentiles {
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
