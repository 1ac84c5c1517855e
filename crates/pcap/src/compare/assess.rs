//! From two captures of the same time to what became of packets between them.

use std::collections::BTreeMap;

use super::capture::Captures;
use super::clock::{Clock, ClockSource};
use super::conversation::{Conversation, ConversationJudge, verdicts};
use super::fingerprint::{ICMP, ICMP_SIX, TCP, UDP};
use super::matching::PacketMatches;
use super::overlap::Overlap;
use super::path::{
    ClockFacts, Confidence, ConversationFacts, OverlapFacts, PathFacts, PathVerdict, TransitFacts, milli,
};
use super::rewrite::alter;
use super::transit::Transit;
use super::verdict::{ConversationVerdict, MIN_PACKETS};
use super::words;

/// How many conversations are listed.
const MAX_CONVERSATIONS_LISTED: usize = 10;
/// How many with everything.
const MAX_CONVERSATIONS_LISTED_FULL: usize = 20_000;
/// How many packets of a direction are enough to be sure.
const MIN_COMMON_PACKETS: u64 = 20;
/// Of a thousand packets that arrive, so many twice or out of order are no accident.
const MAX_UNMATCHED_PERCENT: u64 = 20;

/// What is known of the captures besides their packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaptureLimits {
    /// Packets that the capturing sides say they dropped.
    pub(super) dropped: (u64, u64),
    /// How many bytes behind an IP header were compared at most.
    pub(super) bytes: usize,
    /// Everything is reported.
    pub(super) full: bool,
}

/// All conversations together.
#[derive(Debug, Default)]
pub(super) struct PathTotals {
    /// Toward A, and toward B.
    pub(super) to_a: Transit,
    pub(super) to_b: Transit,
    /// How many came out how.
    pub(super) verdicts: BTreeMap<ConversationVerdict, u64>,
    /// How many surely begin at A, and at B.
    pub(super) begin: (u64, u64),
}

impl PathTotals {
    pub(super) fn of(&self, verdict: ConversationVerdict) -> u64 {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    pub(super) fn judged(&self) -> u64 {
        self.verdicts.iter().filter(|(verdict, _)| verdict.judged()).map(|(_, count)| count).sum()
    }
}

/// Assesses the path between two captures whose packets are joined.
pub(super) fn assess(
    captures: &Captures,
    mut join: PacketMatches,
    mut clock: Clock,
    known: CaptureLimits,
) -> PathFacts {
    let translated = alter(captures, &mut join, &mut clock);
    let window = Overlap::new(captures, &join, &clock);
    let ends = ConversationJudge::new(captures, (&join, &translated), (&clock, &window));
    let mut sum = PathTotals::default();
    let mut ranked: Vec<(ConversationVerdict, u64, u64, usize)> = Vec::new();
    sum.verdicts = verdicts(&ends, &mut |one| {
        if one.verdict == ConversationVerdict::Elsewhere {
            return;
        }
        let (first, second) = (&one.there, &one.back);
        let (to_b, to_a) = one.near.of((first, second), (second, first));
        sum.to_b.join(to_b);
        sum.to_a.join(to_a);
        if one.sure {
            *one.near.of(&mut sum.begin.0, &mut sum.begin.1) += 1;
        }
        let lost = first.lost + second.lost;
        // One question without an answer says less than any loss.
        let weak = one.verdict == ConversationVerdict::NoAnswer && first.sent < MIN_PACKETS;
        let rank = if weak { ConversationVerdict::Delayed } else { one.verdict };
        ranked.push((rank, u64::MAX - lost, u64::MAX - first.sent - second.sent, one.conversation));
    });
    for transit in [&mut sum.to_a, &mut sum.to_b] {
        transit.delays.sort_unstable();
    }
    frames(&mut sum, captures, &ends, &mut ranked);
    ranked.truncate(if known.full { MAX_CONVERSATIONS_LISTED_FULL } else { MAX_CONVERSATIONS_LISTED });
    let (confidence, because) = confidence(&sum, &clock, &window, known);
    let flows: Vec<ConversationFacts> = ranked
        .iter()
        .filter_map(|(.., conversation)| ends.one(*conversation))
        .filter_map(|one| flow(captures, &one, confidence))
        .collect();
    let verdict = overall(&sum);
    let swapped = sum.begin.1 > sum.begin.0;
    let (common, ..) = window.lengths();
    let (begins, stops) = window.shifts();
    PathFacts {
        verdict,
        confidence,
        because,
        sentence: words::sentence(verdict, confidence, &sum),
        clock: facts(&clock),
        window: OverlapFacts {
            common_s: milli(common as i64) / 1000.0,
            b_begins_later_s: milli(begins) / 1000.0,
            b_ends_earlier_s: milli(stops) / 1000.0,
        },
        swapped,
        to_b: TransitFacts::of(&sum.to_b),
        to_a: TransitFacts::of(&sum.to_a),
        verdicts: std::mem::take(&mut sum.verdicts),
        next: words::next(verdict, &flows, clock.how),
        flows,
    }
}

/// Ranks the worst first, and takes the evidence of the worst for all.
fn frames(
    sum: &mut PathTotals,
    captures: &Captures,
    ends: &ConversationJudge<'_>,
    ranked: &mut [(ConversationVerdict, u64, u64, usize)],
) {
    ranked.sort_unstable();
    debug_assert!(ranked.len() <= captures.conversations.len());
    for (.., conversation) in ranked.iter().take(3) {
        let Some(one) = ends.one(*conversation) else {
            continue;
        };
        let (to_b, to_a) = one.near.of((&one.there, &one.back), (&one.back, &one.there));
        for (transit, more) in [(&mut sum.to_b, to_b), (&mut sum.to_a, to_a)] {
            transit.frames.extend(&more.frames);
            transit.frames.truncate(5);
        }
    }
}

fn overall(sum: &PathTotals) -> PathVerdict {
    let (sent, arrived) = (sum.to_a.sent + sum.to_b.sent, sum.to_a.arrived + sum.to_b.arrived);
    let bad =
        [ConversationVerdict::LostThere, ConversationVerdict::AnswerLost, ConversationVerdict::PartialLoss];
    let untidy = (sum.to_a.duplicated + sum.to_b.duplicated + sum.to_a.reordered + sum.to_b.reordered) * 1000
        > arrived * MAX_UNMATCHED_PERCENT;
    if sum.judged() == 0 {
        PathVerdict::Inconclusive
    } else if arrived == 0 && sent > 0 {
        PathVerdict::FullDrop
    } else if bad.iter().any(|verdict| sum.of(*verdict) > 0) {
        PathVerdict::PartialDrop
    } else if sum.of(ConversationVerdict::OtherPath) > 0 {
        PathVerdict::Asymmetric
    } else if sum.of(ConversationVerdict::Delayed) + sum.of(ConversationVerdict::ResetBetween) > 0 || untidy {
        PathVerdict::Degraded
    } else {
        PathVerdict::CleanPath
    }
}

/// Says how sure the verdict is, and what makes it less sure.
fn confidence(
    sum: &PathTotals,
    clock: &Clock,
    window: &Overlap,
    known: CaptureLimits,
) -> (Confidence, Vec<String>) {
    use Confidence::{Low, Medium};
    let mut limits: Vec<(Confidence, String)> = Vec::new();
    let (to_a, to_b) = (&sum.to_a, &sum.to_b);
    let (sent, lost) = (to_a.sent + to_b.sent, to_a.lost + to_b.lost);
    if sent < MIN_COMMON_PACKETS {
        let how = if sent < MIN_PACKETS { Low } else { Medium };
        limits.push((how, format!("only {sent} packets could be judged")));
    }
    if clock.how == ClockSource::Assumed {
        limits.push((
            Medium,
            "no packet was seen at both places: their clocks are taken to be right".to_owned(),
        ));
    }
    let (common, a, b) = window.lengths();
    let shorter = a.min(b);
    if shorter > 0 && common < shorter / 2 {
        let how = if common < shorter / 10 { Low } else { Medium };
        limits.push((
            how,
            format!("both captured for only {:.1} s of {:.1} s", common as f64 / 1e9, shorter as f64 / 1e9),
        ));
    }
    let (dropped_a, dropped_b) = known.dropped;
    if dropped_a + dropped_b > 0 {
        let how = if dropped_a + dropped_b >= lost { Low } else { Medium };
        limits.push((how, format!("the captures themselves dropped {} packets", dropped_a + dropped_b)));
    }
    for (name, transit) in [("A", to_b), ("B", to_a)] {
        if transit.unseen * 50 > transit.arrived.max(1) && transit.unseen > 2 {
            limits.push((
                Medium,
                format!("the capture at {name} missed {} packets that the other one saw: it may not see everything", transit.unseen),
            ));
        }
    }
    if known.bytes < 20 {
        let how = if known.bytes < 8 { Low } else { Medium };
        limits.push((
            how,
            format!("only {} bytes behind IP headers were captured: packets look alike", known.bytes),
        ));
    }
    if (to_a.sent == 0) != (to_b.sent == 0) {
        limits.push((Medium, "one direction alone was seen".to_owned()));
    }
    let least = limits.iter().map(|(how, _)| *how).min().unwrap_or(Confidence::High);
    (least, limits.into_iter().map(|(_, why)| why).collect())
}

fn facts(clock: &Clock) -> ClockFacts {
    let ppm = |share: f64| (share * 1e8).round() / 100.0;
    ClockFacts {
        from: clock.how,
        offset_ms: milli(clock.offset),
        uncertain_ms: clock.round.map(|round| milli((round / 2) as i64)),
        drift_ppm: ppm(clock.drift),
        drift_uncertain_ppm: ppm(clock.drift_off),
        round_trip_ms: clock.round.map(|round| milli(round as i64)),
        packets: clock.packets,
    }
}

fn flow(captures: &Captures, one: &Conversation, overall: Confidence) -> Option<ConversationFacts> {
    let conversation = captures.conversations.get(one.conversation)?;
    let (client, server) = conversation.sockets();
    let packets = one.there.sent + one.back.sent;
    let confidence = match packets {
        0..3 => Confidence::Low,
        3..8 => overall.min(Confidence::Medium),
        8.. => {
            overall.max(Confidence::Medium).min(if one.sure { Confidence::High } else { Confidence::Medium })
        }
    };
    Some(ConversationFacts {
        protocol: match conversation.protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            ICMP => "icmp".to_owned(),
            ICMP_SIX => "icmpv6".to_owned(),
            other => format!("ip protocol {other}"),
        },
        client,
        server,
        translated: one.translated.and_then(|conversation| captures.conversations.get(conversation)).map(
            |other| {
                let (first, second) = other.ends.sockets();
                if other.flipped { (second, first) } else { (first, second) }
            },
        ),
        near: one.near.name(),
        verdict: one.verdict,
        confidence,
        words: words::of(one),
        there: TransitFacts::of(&one.there),
        back: TransitFacts::of(&one.back),
    })
}
