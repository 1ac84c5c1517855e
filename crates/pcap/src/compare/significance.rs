//! Statistical significance of differences: tests for shares and for distributions.

use serde::Serialize;

use super::path::Confidence;
use crate::flow::Percentiles;

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
pub enum Significance {
    /// Less than 10 percent, or not beyond noise.
    Stable,
    /// Up to 50 percent.
    Noteworthy,
    /// Up to 200 percent; whatever is new or gone.
    Significant,
    /// More than that.
    Critical,
}

impl Significance {
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
pub(super) const STABLE_PERCENT: f64 = 10.0;
const NOTEWORTHY_PERCENT: f64 = 50.0;
const SIGNIFICANT_PERCENT: f64 = 200.0;
/// How many standard errors are beyond chance: one of twenty comparisons of equals goes further.
const MIN_DEVIATIONS: f64 = 1.96;
/// The same for one of many services or hosts.
const MIN_DEVIATIONS_PER_SERVICE: f64 = 3.0;
/// What was never there has to happen so often before it is new, and be so much of all.
const MIN_NEW_COUNT: u64 = 3;
const MIN_NEW_SHARE: f64 = 0.01;
/// How many measurements on each side let a median be compared, and so many what nine of ten do not exceed.
const MIN_SAMPLES: u64 = 8;
const MIN_TAIL_SAMPLES: u64 = 20;
/// A shorter difference is nobody's trouble, in milliseconds.
const MIN_DIFFERENCE_MS: f64 = 0.2;
/// Spreads are known within a sixteenth.
const HISTOGRAM_ERROR: f64 = 1.0 / 16.0;

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
pub(super) struct Assessment {
    pub(super) trend: Trend,
    pub(super) weight: Significance,
    pub(super) confidence: Confidence,
    /// By how many percent of the first value; nothing where that is 0.
    pub(super) delta: Option<f64>,
}

const NO_CHANGE: Assessment = Assessment {
    trend: Trend::Stable,
    weight: Significance::Stable,
    confidence: Confidence::High,
    delta: None,
};

/// What is compared: everything, or one of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// All together.
    All,
    /// One service or host.
    Each,
}

/// Compares shares with a test of two proportions. `clumped` is how much more such events vary than independent ones.
pub(super) fn shares(a: Share, b: Share, clumped: f64, scale: Scale) -> Assessment {
    let (before, now) = (a.rate(), b.rate());
    let delta = (before > 0.0).then(|| (now - before) / before * 100.0);
    let (na, nb) = (a.whole as f64, b.whole as f64);
    let captures = (a.part + b.part) as f64 / (na + nb);
    let error = (captures * (1.0 - captures) * (1.0 / na + 1.0 / nb) * clumped).sqrt();
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
        here.part >= MIN_NEW_COUNT && here.rate() >= MIN_NEW_SHARE && here.rate() * elsewhere >= expected
    };
    let beyond = far >= if scale == Scale::All { MIN_DEVIATIONS } else { MIN_DEVIATIONS_PER_SERVICE };
    let trend = match (a.part, b.part) {
        (0, 0) => return NO_CHANGE,
        (0, _) if appeared(b, na) => Trend::New,
        (_, 0) if appeared(a, nb) => Trend::Resolved,
        (0, _) | (_, 0) => return NO_CHANGE,
        _ if !beyond || difference.abs() < before * STABLE_PERCENT / 100.0 => {
            return Assessment { delta, ..NO_CHANGE };
        }
        _ if difference > 0.0 => Trend::Regression,
        _ => Trend::Improvement,
    };
    Assessment { trend, weight: weight(trend, delta), confidence: confidence(far), delta }
}

/// Compares medians; where those are the same, what nine of ten do not exceed. Says which of both it was.
pub(super) fn figures(a: &Percentiles, b: &Percentiles, scale: Scale) -> (Assessment, bool) {
    let least = a.samples.min(b.samples);
    if least < MIN_SAMPLES {
        return (Assessment { confidence: Confidence::Low, ..NO_CHANGE }, false);
    }
    let middle = |one: &Percentiles| (one.p50, 1.25 * wide(one, one.p90, 1.28) / (one.samples as f64).sqrt());
    let tail = |one: &Percentiles| (one.p90, 1.71 * wide(one, one.p99, 2.33) / (one.samples as f64).sqrt());
    let judged = times(middle(a), middle(b), scale);
    if judged.trend != Trend::Stable || least < MIN_TAIL_SAMPLES {
        return (judged, false);
    }
    let high = times(tail(a), tail(b), scale);
    if high.trend == Trend::Stable { (judged, false) } else { (high, true) }
}

/// The standard deviation that a tail suggests, no smaller than what buckets blur.
fn wide(one: &Percentiles, tail: f64, deviations: f64) -> f64 {
    ((tail - one.p50) / deviations).max(one.p50 * HISTOGRAM_ERROR)
}

fn times((before, blur): (f64, f64), (now, other): (f64, f64), scale: Scale) -> Assessment {
    let error = blur.hypot(other);
    let difference = now - before;
    let delta = (before > 0.0).then(|| difference / before * 100.0);
    let far = if error > 0.0 { difference.abs() / error } else { 0.0 };
    let beyond = far >= if scale == Scale::All { MIN_DEVIATIONS } else { MIN_DEVIATIONS_PER_SERVICE };
    if !beyond
        || difference.abs() < MIN_DIFFERENCE_MS
        || delta.is_none_or(|delta| delta.abs() < STABLE_PERCENT)
    {
        return Assessment { delta, ..NO_CHANGE };
    }
    let trend = if difference > 0.0 { Trend::Regression } else { Trend::Improvement };
    Assessment { trend, weight: weight(trend, delta), confidence: confidence(far), delta }
}

fn weight(trend: Trend, delta: Option<f64>) -> Significance {
    match (trend, delta.map(f64::abs)) {
        (Trend::Stable, _) => Significance::Stable,
        (Trend::New | Trend::Resolved, _) | (_, None) => Significance::Significant,
        (_, Some(delta)) if delta < STABLE_PERCENT => Significance::Stable,
        (_, Some(delta)) if delta <= NOTEWORTHY_PERCENT => Significance::Noteworthy,
        (_, Some(delta)) if delta <= SIGNIFICANT_PERCENT => Significance::Significant,
        (_, Some(_)) => Significance::Critical,
    }
}

fn confidence(far: f64) -> Confidence {
    if far >= 3.3 {
        Confidence::High
    } else if far >= MIN_DEVIATIONS {
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
    fn what_is_beyond_chance_is_reported() {
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
        assert_eq!(weight(10_000, 10_500), Significance::Stable);
        assert_eq!(weight(10_000, 14_000), Significance::Noteworthy);
        assert_eq!(weight(10_000, 29_000), Significance::Significant);
        assert_eq!(weight(10_000, 31_000), Significance::Critical);
    }

    fn spread(p50: f64, p90: f64, p99: f64, samples: u64) -> Percentiles {
        Percentiles { min: p50, p50, p90, p99, max: p99, samples }
    }

    #[test]
    fn few_measurements_compare_nothing_and_a_tail_is_found_behind_equal_medians() {
        let judge = |a: &Percentiles, b: &Percentiles| figures(a, b, Scale::All);
        assert_eq!(judge(&spread(5.0, 5.0, 5.0, 5), &spread(150.0, 150.0, 150.0, 5)).0.trend, Trend::Stable);
        assert_eq!(
            judge(&spread(5.0, 5.0, 5.0, 10), &spread(150.0, 150.0, 150.0, 10)).0.weight,
            Significance::Critical
        );
        let (tail, which) = judge(&spread(5.0, 6.0, 7.0, 500), &spread(5.0, 90.0, 120.0, 500));
        assert_eq!((tail.trend, which), (Trend::Regression, true));
        assert_eq!(judge(&spread(5.0, 9.0, 20.0, 12), &spread(5.6, 9.0, 20.0, 12)).0.trend, Trend::Stable);
    }
}
