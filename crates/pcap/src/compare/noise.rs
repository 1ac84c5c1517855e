//! Whether a difference is more than chance brings: tests for shares and for spreads, limits as data.

use serde::Serialize;

use super::path::Confidence;
use crate::flow::Figures;

/// How a rate or a time developed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Trend {
    /// It was not there before.
    New,
    /// It is worse.
    Regression,
    /// It is better.
    Improvement,
    /// It is gone.
    Resolved,
    /// No difference beyond noise.
    Stable,
}

impl Trend {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "REGRESSION",
            Self::Improvement => "IMPROVEMENT",
            Self::Stable => "STABLE",
            Self::New => "NEW",
            Self::Resolved => "RESOLVED",
        }
    }
}

/// How much something changed: less than a tenth, up to a half, up to three times as much, more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Weight {
    /// Less than 10 percent, or not beyond noise.
    Stable,
    /// Up to 50 percent.
    Noteworthy,
    /// Up to 200 percent; whatever is new or gone.
    Significant,
    /// More than that.
    Critical,
}

impl Weight {
    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Noteworthy => "noteworthy",
            Self::Significant => "significant",
            Self::Critical => "critical",
        }
    }
}

/// Percent by which something may differ and is called stable.
pub(super) const STABLE: f64 = 10.0;
const NOTEWORTHY: f64 = 50.0;
const SIGNIFICANT: f64 = 200.0;
/// So many standard errors are beyond chance: one of twenty comparisons of equals goes further.
const BEYOND: f64 = 1.96;
/// The same for one of many services or hosts.
const BEYOND_EACH: f64 = 3.0;
/// What was never there has to happen so often before it is new, and be so much of all.
const NEW_AT_LEAST: u64 = 3;
const NEW_SHARE: f64 = 0.01;
/// So many measurements on each side let a median be compared, and so many what nine of ten do not exceed.
const ENOUGH: u64 = 8;
const ENOUGH_FOR_TAIL: u64 = 20;
/// A shorter difference is nobody's trouble, in milliseconds.
const LEAST_MS: f64 = 0.2;
/// Spreads are known within a sixteenth.
const COARSE: f64 = 1.0 / 16.0;

/// How often something happened, of how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// How often.
    pub(super) part: u64,
    /// Of how much.
    pub(super) whole: u64,
}

impl Share {
    fn rate(self) -> f64 {
        if self.whole == 0 { 0.0 } else { self.part as f64 / self.whole as f64 }
    }
}

/// A judged difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    pub(super) trend: Trend,
    pub(super) weight: Weight,
    pub(super) confidence: Confidence,
    /// By how many percent of the first value; nothing where that is 0.
    pub(super) delta: Option<f64>,
}

const NO_CHANGE: Judged =
    Judged { trend: Trend::Stable, weight: Weight::Stable, confidence: Confidence::High, delta: None };

/// What is compared: everything, or one of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// All together.
    All,
    /// One service or host.
    Each,
}

/// Compares shares with a test of two proportions. `clumped` is how much more such events vary than independent ones.
pub(super) fn shares(a: Share, b: Share, clumped: f64, scale: Scale) -> Judged {
    let (before, now) = (a.rate(), b.rate());
    let delta = (before > 0.0).then(|| (now - before) / before * 100.0);
    let (na, nb) = (a.whole as f64, b.whole as f64);
    let both = (a.part + b.part) as f64 / (na + nb);
    let error = (both * (1.0 - both) * (1.0 / na + 1.0 / nb) * clumped).sqrt();
    let difference = now - before;
    let far = if error > 0.0 {
        difference.abs() / error
    } else if difference == 0.0 {
        0.0
    } else {
        f64::INFINITY
    };
    let expected = if scale == Scale::All { 1.0 } else { 3.0 };
    let appeared = |here: Share, elsewhere: f64| {
        here.part >= NEW_AT_LEAST && here.rate() >= NEW_SHARE && here.rate() * elsewhere >= expected
    };
    let beyond = far >= if scale == Scale::All { BEYOND } else { BEYOND_EACH };
    let trend = match (a.part, b.part) {
        (0, 0) => return NO_CHANGE,
        (0, _) if appeared(b, na) => Trend::New,
        (_, 0) if appeared(a, nb) => Trend::Resolved,
        (0, _) | (_, 0) => return NO_CHANGE,
        _ if !beyond || difference.abs() < before * STABLE / 100.0 => {
            return Judged { delta, ..NO_CHANGE };
        }
        _ if difference > 0.0 => Trend::Regression,
        _ => Trend::Improvement,
    };
    Judged { trend, weight: weight(trend, delta), confidence: confidence(far), delta }
}

/// Compares medians; where those are the same, what nine of ten do not exceed. Says which of both it was.
pub(super) fn figures(a: &Figures, b: &Figures, scale: Scale) -> (Judged, bool) {
    let least = a.samples.min(b.samples);
    if least < ENOUGH {
        return (Judged { confidence: Confidence::Low, ..NO_CHANGE }, false);
    }
    let middle = |one: &Figures| (one.p50, 1.25 * wide(one, one.p90, 1.28) / (one.samples as f64).sqrt());
    let tail = |one: &Figures| (one.p90, 1.71 * wide(one, one.p99, 2.33) / (one.samples as f64).sqrt());
    let judged = times(middle(a), middle(b), scale);
    if judged.trend != Trend::Stable || least < ENOUGH_FOR_TAIL {
        return (judged, false);
    }
    let high = times(tail(a), tail(b), scale);
    if high.trend == Trend::Stable { (judged, false) } else { (high, true) }
}

/// The standard deviation that a tail suggests, no smaller than what buckets blur.
fn wide(one: &Figures, tail: f64, deviations: f64) -> f64 {
    ((tail - one.p50) / deviations).max(one.p50 * COARSE)
}

fn times((before, blur): (f64, f64), (now, other): (f64, f64), scale: Scale) -> Judged {
    let error = blur.hypot(other);
    let difference = now - before;
    let delta = (before > 0.0).then(|| difference / before * 100.0);
    let far = if error > 0.0 { difference.abs() / error } else { 0.0 };
    let beyond = far >= if scale == Scale::All { BEYOND } else { BEYOND_EACH };
    if !beyond || difference.abs() < LEAST_MS || delta.is_none_or(|delta| delta.abs() < STABLE) {
        return Judged { delta, ..NO_CHANGE };
    }
    let trend = if difference > 0.0 { Trend::Regression } else { Trend::Improvement };
    Judged { trend, weight: weight(trend, delta), confidence: confidence(far), delta }
}

fn weight(trend: Trend, delta: Option<f64>) -> Weight {
    match (trend, delta.map(f64::abs)) {
        (Trend::Stable, _) => Weight::Stable,
        (Trend::New | Trend::Resolved, _) | (_, None) => Weight::Significant,
        (_, Some(delta)) if delta < STABLE => Weight::Stable,
        (_, Some(delta)) if delta <= NOTEWORTHY => Weight::Noteworthy,
        (_, Some(delta)) if delta <= SIGNIFICANT => Weight::Significant,
        (_, Some(_)) => Weight::Critical,
    }
}

fn confidence(far: f64) -> Confidence {
    if far >= 3.3 {
        Confidence::High
    } else if far >= BEYOND {
        Confidence::Medium
    } else {
        Confidence::Low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend((a, of_a): (u64, u64), (b, of_b): (u64, u64)) -> Trend {
        let share = |part, whole| Share { part, whole };
        shares(share(a, of_a), share(b, of_b), 1.0, Scale::All).trend
    }

    #[test]
    fn more_of_everything_is_no_change_and_chance_is_none() {
        assert_eq!(trend((10, 1000), (100, 10_000)), Trend::Stable);
        assert_eq!(trend((0, 1000), (1, 1000)), Trend::Stable);
        assert_eq!(trend((10, 1000), (14, 1000)), Trend::Stable);
        assert_eq!(trend((0, 5), (0, 9)), Trend::Stable);
    }

    #[test]
    fn what_is_beyond_chance_is_told() {
        assert_eq!(trend((0, 1000), (30, 1000)), Trend::New);
        assert_eq!(trend((30, 1000), (0, 1000)), Trend::Resolved);
        assert_eq!(trend((10, 1000), (60, 1000)), Trend::Regression);
        assert_eq!(trend((600, 10_000), (100, 10_000)), Trend::Improvement);
    }

    #[test]
    fn a_short_time_before_does_not_make_everything_new() {
        assert_eq!(trend((0, 4), (30, 1000)), Trend::Stable);
    }

    #[test]
    fn a_difference_of_a_twentieth_is_stable_however_sure_it_is() {
        assert_eq!(trend((100_000, 1_000_000), (105_000, 1_000_000)), Trend::Stable);
    }

    #[test]
    fn weights_follow_the_percentages() {
        let share = |part| Share { part, whole: 100_000 };
        let weight = |a, b| shares(share(a), share(b), 1.0, Scale::All).weight;
        assert_eq!(weight(10_000, 10_500), Weight::Stable);
        assert_eq!(weight(10_000, 14_000), Weight::Noteworthy);
        assert_eq!(weight(10_000, 29_000), Weight::Significant);
        assert_eq!(weight(10_000, 31_000), Weight::Critical);
    }

    fn spread(p50: f64, p90: f64, p99: f64, samples: u64) -> Figures {
        Figures { min: p50, p50, p90, p99, max: p99, samples }
    }

    #[test]
    fn few_measurements_compare_nothing_and_a_tail_is_found_behind_equal_medians() {
        let judge = |a: &Figures, b: &Figures| figures(a, b, Scale::All);
        assert_eq!(judge(&spread(5.0, 5.0, 5.0, 5), &spread(150.0, 150.0, 150.0, 5)).0.trend, Trend::Stable);
        assert_eq!(
            judge(&spread(5.0, 5.0, 5.0, 10), &spread(150.0, 150.0, 150.0, 10)).0.weight,
            Weight::Critical
        );
        let (tail, which) = judge(&spread(5.0, 6.0, 7.0, 500), &spread(5.0, 90.0, 120.0, 500));
        assert_eq!((tail.trend, which), (Trend::Regression, true));
        assert_eq!(judge(&spread(5.0, 9.0, 20.0, 12), &spread(5.6, 9.0, 20.0, 12)).0.trend, Trend::Stable);
    }
}
