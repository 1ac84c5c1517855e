//! The facts of one direction of a TCP stream.

use serde::Serialize;

use super::stream::{Percentiles, ms};
use crate::tcp::{DirectionState, RetransmissionRun, SenderState, WaitReason};

/// How long a direction is followed before its waiting times are reported.
const MIN_DIRECTION_TIME: u64 = 100_000_000;
/// How many repetitions of one segment are listed with their pauses.
const MIN_REPETITIONS: u32 = 2;
/// How many repetitions of segments that are larger than all that passed.
const MIN_BLACK_HOLE_REPETITIONS: u32 = 3;

/// One direction of a connection. What does not occur is not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DirectionFacts {
    /// The packets that this end sent.
    pub packets: u64,
    /// Bytes that they carried.
    pub bytes: u64,
    /// Packets that were there twice, byte for byte.
    #[serde(skip_serializing_if = "none")]
    pub copies: u32,
    /// The largest segment that the sender takes, as it said.
    #[serde(skip_serializing_if = "none_16")]
    pub mss: u16,
    /// The largest that it sent.
    #[serde(skip_serializing_if = "none")]
    pub largest: u32,
    /// Round trips by Karn's rule: from here to the other end and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<Percentiles>,
    /// How long acknowledgments took, each since the oldest segment that ends there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_rtt_ms: Option<AckTimes>,
    /// What it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitShares>,
    /// Where segments were lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossFacts>,
    /// The segment that was sent most often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<RepeatedSegment>,
    /// When the sender took nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_window: Option<ZeroWindowFacts>,
    /// Repetitions and probes at the end to which nothing came back.
    #[serde(skip_serializing_if = "none")]
    pub unanswered: u32,
    /// A segment that did not pass though smaller ones did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "stuck")]
    pub black_hole: Option<MtuBlackHole>,
}

/// How long acknowledgments took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AckTimes {
    /// The shortest.
    pub min: f64,
    /// On average.
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// How many.
    pub samples: u32,
}

/// How a direction's time is divided, in percent of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LimitShares {
    /// Nothing was in transit, and the window was open.
    pub application_pct: f64,
    /// The other end's window had no room.
    pub window_pct: f64,
    /// Something was lost and not yet made up for.
    pub loss_pct: f64,
    /// Something was in transit, with room for more.
    pub path_pct: f64,
    /// The whole time.
    pub seconds: f64,
}

/// What became of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LossFacts {
    /// Gaps that a repetition filled: lost before this point.
    pub before: u32,
    /// Sent again though the first copy passed here: lost behind this point, or their acknowledgment was.
    pub after: u32,
    /// Acknowledged and never seen: the capture missed them.
    pub not_captured: u32,
    /// How many bytes those had.
    pub not_captured_bytes: u64,
    /// Sent again though the receiver had them.
    pub needless: u32,
    /// Late, and not lost.
    pub late: u32,
    /// Bytes that never came, and that nobody acknowledged.
    pub missing_bytes: u64,
}

/// A segment that was sent several times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedSegment {
    /// How often it was sent again.
    pub times: u32,
    /// The first pauses between two times.
    pub gaps_ms: Vec<f64>,
    /// Each is about twice the one before: a timer ran out every time.
    pub doubling: bool,
    /// The first repetition.
    pub first_frame: u64,
}

/// When an end took nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ZeroWindowFacts {
    /// How often its window closed.
    pub periods: u32,
    /// How long in all.
    pub total_ms: f64,
    /// How long at a stretch.
    pub longest_ms: f64,
    /// How often the other end asked whether it is open again.
    pub probes: u32,
    /// It was still closed when the connection was last seen.
    pub still: bool,
    /// Where it first closed.
    pub first_frame: u64,
}

/// Segments that did not pass though smaller ones did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MtuBlackHole {
    /// How many bytes the smallest carries.
    pub size: u32,
    /// How often such were sent again.
    pub times: u32,
    /// The largest that was acknowledged.
    pub passed: u32,
    /// How many bytes of it the sender tried last, where that is less: it noticed.
    pub cut_to: Option<u32>,
    /// The other end said something meanwhile: it is alive.
    pub alive: bool,
    /// The first repetition.
    pub first_frame: u64,
}

impl DirectionFacts {
    pub(super) fn of(
        side: &SenderState,
        direction: Option<&DirectionState>,
        retransmissions: RetransmissionRun,
        peer_seen: bool,
        end: u64,
    ) -> Self {
        Self {
            packets: side.packets,
            bytes: side.bytes,
            copies: side.copies,
            mss: side.mss,
            largest: direction.map_or(0, |direction| direction.largest),
            rtt_ms: None,
            ack_rtt_ms: direction.and_then(AckTimes::of),
            limits: direction.filter(|_| side.bytes > 0 && peer_seen).and_then(LimitShares::of),
            losses: direction.and_then(LossFacts::of),
            repeated: RepeatedSegment::of(retransmissions),
            zero_window: direction.and_then(|direction| ZeroWindowFacts::of(direction, end)),
            unanswered: direction.filter(|_| peer_seen).map_or(0, |direction| direction.unanswered),
            black_hole: direction.and_then(MtuBlackHole::of),
        }
    }
}

impl AckTimes {
    fn of(direction: &DirectionState) -> Option<Self> {
        let flight = &direction.flight;
        let samples = u64::from(flight.samples);
        let mean = flight.total.checked_div(samples)?;
        Some(Self { min: ms(flight.least), mean: ms(mean), max: ms(flight.most), samples: flight.samples })
    }
}

impl LimitShares {
    fn of(direction: &DirectionState) -> Option<Self> {
        let of = |limit| direction.limits.of(limit);
        let parts = [WaitReason::Application, WaitReason::Window, WaitReason::Loss, WaitReason::Path].map(of);
        let whole = parts.iter().fold(0_u64, |all, part| all.saturating_add(*part));
        let share = |part: u64| (part as f64 * 1000.0 / whole as f64).round() / 10.0;
        let [application_pct, window_pct, loss_pct, path_pct] = parts.map(share);
        let seconds = ms(whole) / 1000.0;
        (whole >= MIN_DIRECTION_TIME).then_some(Self {
            application_pct,
            window_pct,
            loss_pct,
            path_pct,
            seconds,
        })
    }
}

impl LossFacts {
    pub(super) fn of(direction: &DirectionState) -> Option<Self> {
        let losses = &direction.losses;
        let found = Self {
            before: losses.before,
            after: losses.after,
            not_captured: losses.missed,
            not_captured_bytes: losses.missed_bytes,
            needless: losses.needless,
            late: losses.late,
            missing_bytes: losses.open(),
        };
        let Self { before, after, not_captured, needless, late, missing_bytes, .. } = found;
        (before + after + not_captured + needless + late > 0 || missing_bytes > 0).then_some(found)
    }
}

impl RepeatedSegment {
    fn of(retransmissions: RetransmissionRun) -> Option<Self> {
        (retransmissions.times >= MIN_REPETITIONS).then(|| Self {
            times: retransmissions.times,
            gaps_ms: retransmissions.pauses().iter().map(|pause| f64::from(*pause) / 1000.0).collect(),
            doubling: retransmissions.doubles(),
            first_frame: retransmissions.frame,
        })
    }
}

impl ZeroWindowFacts {
    pub(super) fn of(direction: &DirectionState, end: u64) -> Option<Self> {
        let closed = &direction.closed;
        let (total, longest) = closed.until(end);
        (closed.periods > 0).then(|| Self {
            periods: closed.periods,
            total_ms: ms(total),
            longest_ms: ms(longest),
            probes: closed.probes,
            still: closed.is_closed(),
            first_frame: closed.frame,
        })
    }
}

impl MtuBlackHole {
    pub(super) fn of(direction: &DirectionState) -> Option<Self> {
        let (large, passed) = (&direction.large, u32::from(direction.flight.passed));
        (large.times >= MIN_BLACK_HOLE_REPETITIONS && large.size > passed).then(|| Self {
            size: large.size,
            times: large.times,
            passed,
            cut_to: Some(large.cut_to).filter(|cut| *cut > 0),
            alive: large.alive,
            first_frame: large.frame,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn none(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn none_16(count: &u16) -> bool {
    *count == 0
}
