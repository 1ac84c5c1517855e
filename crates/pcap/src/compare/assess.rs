//! From two captures of the same time to what became of packets between them.

use std::collections::BTreeMap;

use super::alter::alter;
use super::clock::{Clock, How};
use super::ends::{Conversation, Ends, verdicts};
use super::join::Join;
use super::path::{ClockFacts, Confidence, FlowFacts, Overall, Path, TripFacts, WindowFacts, milli};
use super::print::{ICMP, ICMP_SIX, TCP, UDP};
use super::seen::Both;
use super::trip::Trip;
use super::verdict::{ENOUGH, Verdict};
use super::window::Window;
use super::words;

/// How many conversations are told of.
const FLOWS: usize = 10;
/// How many with everything.
const FLOWS_FULL: usize = 20_000;
/// So many packets of a direction are enough to be sure.
const MANY: u64 = 20;
/// Of a thousand packets that arrive, so many twice or out of order are no accident.
const UNTIDY: u64 = 20;

/// What is known of the captures besides their packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Packets that the capturing sides say they dropped.
    pub(super) dropped: (u64, u64),
    /// So many bytes behind an IP header were compared at most.
    pub(super) bytes: usize,
    /// Everything is told.
    pub(super) full: bool,
}

/// All conversations together.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// Toward A, and toward B.
    pub(super) to_a: Trip,
    pub(super) to_b: Trip,
    /// How many came out how.
    pub(super) verdicts: BTreeMap<Verdict, u64>,
    /// How many surely begin at A, and at B.
    pub(super) begin: (u64, u64),
}

impl Sum {
    pub(super) fn of(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    pub(super) fn judged(&self) -> u64 {
        self.verdicts.iter().filter(|(verdict, _)| verdict.judged()).map(|(_, count)| count).sum()
    }
}

/// Assesses the way between two captures whose packets are joined.
pub(super) fn assess(both: &Both, mut join: Join, mut clock: Clock, known: Known) -> Path {
    let translated = alter(both, &mut join, &mut clock);
    let window = Window::new(both, &join, &clock);
    let ends = Ends::new(both, (&join, &translated), (&clock, &window));
    let mut sum = Sum::default();
    let mut ranked: Vec<(Verdict, u64, u64, usize)> = Vec::new();
    sum.verdicts = verdicts(&ends, &mut |one| {
        if one.verdict == Verdict::Elsewhere {
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
        let weak = one.verdict == Verdict::NoAnswer && first.sent < ENOUGH;
        let rank = if weak { Verdict::Delayed } else { one.verdict };
        ranked.push((rank, u64::MAX - lost, u64::MAX - first.sent - second.sent, one.lane));
    });
    for trip in [&mut sum.to_a, &mut sum.to_b] {
        trip.delays.sort_unstable();
    }
    frames(&mut sum, both, &ends, &mut ranked);
    ranked.truncate(if known.full { FLOWS_FULL } else { FLOWS });
    let (confidence, because) = confidence(&sum, &clock, &window, known);
    let flows: Vec<FlowFacts> = ranked
        .iter()
        .filter_map(|(.., lane)| ends.one(*lane))
        .filter_map(|one| flow(both, &one, confidence))
        .collect();
    let verdict = overall(&sum);
    let swapped = sum.begin.1 > sum.begin.0;
    let (common, ..) = window.lengths();
    let (begins, stops) = window.shifts();
    Path {
        verdict,
        confidence,
        because,
        sentence: words::sentence(verdict, confidence, &sum),
        clock: facts(&clock),
        window: WindowFacts {
            common_s: milli(common as i64) / 1000.0,
            b_begins_later_s: milli(begins) / 1000.0,
            b_ends_earlier_s: milli(stops) / 1000.0,
        },
        swapped,
        to_b: TripFacts::of(&sum.to_b),
        to_a: TripFacts::of(&sum.to_a),
        verdicts: std::mem::take(&mut sum.verdicts),
        next: words::next(verdict, &flows, clock.how),
        flows,
    }
}

/// Ranks the worst first, and takes the evidence of the worst for all.
fn frames(sum: &mut Sum, both: &Both, ends: &Ends<'_>, ranked: &mut [(Verdict, u64, u64, usize)]) {
    ranked.sort_unstable();
    debug_assert!(ranked.len() <= both.lanes.len());
    for (.., lane) in ranked.iter().take(3) {
        let Some(one) = ends.one(*lane) else {
            continue;
        };
        let (to_b, to_a) = one.near.of((&one.there, &one.back), (&one.back, &one.there));
        for (trip, more) in [(&mut sum.to_b, to_b), (&mut sum.to_a, to_a)] {
            trip.frames.extend(&more.frames);
            trip.frames.truncate(5);
        }
    }
}

fn overall(sum: &Sum) -> Overall {
    let (sent, arrived) = (sum.to_a.sent + sum.to_b.sent, sum.to_a.arrived + sum.to_b.arrived);
    let bad = [Verdict::LostThere, Verdict::AnswerLost, Verdict::PartialLoss];
    let untidy = (sum.to_a.duplicated + sum.to_b.duplicated + sum.to_a.reordered + sum.to_b.reordered) * 1000
        > arrived * UNTIDY;
    if sum.judged() == 0 {
        Overall::Inconclusive
    } else if arrived == 0 && sent > 0 {
        Overall::FullDrop
    } else if bad.iter().any(|verdict| sum.of(*verdict) > 0) {
        Overall::PartialDrop
    } else if sum.of(Verdict::OtherWay) > 0 {
        Overall::Asymmetric
    } else if sum.of(Verdict::Delayed) + sum.of(Verdict::ResetBetween) > 0 || untidy {
        Overall::Degraded
    } else {
        Overall::CleanPath
    }
}

/// Says how sure the verdict is, and what makes it less sure.
fn confidence(sum: &Sum, clock: &Clock, window: &Window, known: Known) -> (Confidence, Vec<String>) {
    use Confidence::{Low, Medium};
    let mut limits: Vec<(Confidence, String)> = Vec::new();
    let (to_a, to_b) = (&sum.to_a, &sum.to_b);
    let (sent, lost) = (to_a.sent + to_b.sent, to_a.lost + to_b.lost);
    if sent < MANY {
        let how = if sent < ENOUGH { Low } else { Medium };
        limits.push((how, format!("only {sent} packets could be judged")));
    }
    if clock.how == How::Assumed {
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
    for (name, trip) in [("A", to_b), ("B", to_a)] {
        if trip.unseen * 50 > trip.arrived.max(1) && trip.unseen > 2 {
            limits.push((
                Medium,
                format!("the capture at {name} missed {} packets that the other one saw: it may not see everything", trip.unseen),
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

fn flow(both: &Both, one: &Conversation, overall: Confidence) -> Option<FlowFacts> {
    let lane = both.lanes.get(one.lane)?;
    let (client, server) = lane.sockets();
    let packets = one.there.sent + one.back.sent;
    let confidence = match packets {
        0..3 => Confidence::Low,
        3..8 => overall.min(Confidence::Medium),
        8.. => {
            overall.max(Confidence::Medium).min(if one.sure { Confidence::High } else { Confidence::Medium })
        }
    };
    Some(FlowFacts {
        protocol: match lane.protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            ICMP => "icmp".to_owned(),
            ICMP_SIX => "icmpv6".to_owned(),
            other => format!("ip protocol {other}"),
        },
        client,
        server,
        translated: one.translated.and_then(|lane| both.lanes.get(lane)).map(|other| {
            let (first, second) = other.ends.sockets();
            if other.flipped { (second, first) } else { (first, second) }
        }),
        near: one.near.name(),
        verdict: one.verdict,
        confidence,
        words: words::of(one),
        there: TripFacts::of(&one.there),
        back: TripFacts::of(&one.back),
    })
}
