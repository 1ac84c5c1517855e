//! What a series of samples says.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A spread above half of the smallest sample is a high one.
const MAX_SPREAD: f64 = 0.50;

/// Samples are decimal numbers: a spread of exactly a half must not become more by how a machine writes them.
const WRITTEN: f64 = 1e-9;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestType {
    /// How long a packet takes.
    Latency,
    /// How much is carried.
    Throughput,
    Both,
}

impl TestType {
    /// Tells whether latency is measured.
    #[must_use]
    pub fn latency(self) -> bool {
        matches!(self, Self::Latency | Self::Both)
    }

    /// Tells whether throughput is measured.
    #[must_use]
    pub fn throughput(self) -> bool {
        matches!(self, Self::Throughput | Self::Both)
    }
}

/// The samples of a run. Those of a metric that was not asked for are not looked at.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Samples {
    /// What was measured.
    pub test_type: TestType,
    /// Latencies in microseconds.
    #[serde(default)]
    pub latency_us: Vec<f64>,
    /// Throughputs in gigabits a second.
    #[serde(default)]
    pub throughput_gbps: Vec<f64>,
}

/// Why samples cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// A metric was asked for and has no sample.
    #[error("`{0}` has no sample")]
    None(&'static str),
    /// A sample is no measurement.
    #[error("sample {at} of `{metric}` is not a number from 0 up")]
    Odd {
        metric: &'static str,
        /// Which one, from 1.
        at: usize,
    },
}

/// What is wrong with a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Anomaly {
    /// A sample is zero: nothing came through.
    ConnectivityDrop,
    /// The samples lie too far apart.
    HighVariance,
}

/// The extent of the samples of one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Nine of ten samples are no larger: the nearest rank.
    pub p90: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// What the samples say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Computed {
    /// Latency, where it was measured.
    pub latency: Option<Extent>,
    /// Throughput, where it was measured.
    pub throughput: Option<Extent>,
    /// What is wrong, if anything is.
    pub anomaly: Option<Anomaly>,
}

impl Computed {
    /// Writes it as the contract has it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let part = |extent: Option<Extent>, part: fn(Extent) -> f64| extent.map(part);
        json!({
            "is_stable": self.anomaly.is_none(), "anomaly_type": self.anomaly,
            "latency_p90": part(self.latency, |extent| extent.p90), "latency_min": part(self.latency, |extent| extent.min),
            "latency_max": part(self.latency, |extent| extent.max), "throughput_p90": part(self.throughput, |extent| extent.p90),
            "throughput_min": part(self.throughput, |extent| extent.min), "throughput_max": part(self.throughput, |extent| extent.max),
            "units": {"latency": "us", "throughput": "Gbps"},
        })
    }
}

/// Judges samples: a zero is a drop, whatever else there is; a spread of more than half of the smallest is a high variance.
///
/// # Errors
/// Fails where a metric that was asked for has no sample, or one that is no measurement.
pub fn compute(samples: &Samples) -> Result<Computed, SampleError> {
    let kind = samples.test_type;
    let latency = kind.latency().then(|| extent("latency_us", &samples.latency_us)).transpose()?;
    let throughput =
        kind.throughput().then(|| extent("throughput_gbps", &samples.throughput_gbps)).transpose()?;
    let any = |wrong: fn(&Extent) -> bool| latency.iter().chain(&throughput).any(wrong);
    let anomaly = if any(|extent| extent.min == 0.0) {
        Some(Anomaly::ConnectivityDrop)
    } else {
        any(|extent| (extent.max - extent.min) / extent.min > MAX_SPREAD + WRITTEN)
            .then_some(Anomaly::HighVariance)
    };
    Ok(Computed { latency, throughput, anomaly })
}

fn extent(metric: &'static str, samples: &[f64]) -> Result<Extent, SampleError> {
    if let Some(at) = samples.iter().position(|sample| !sample.is_finite() || *sample < 0.0) {
        return Err(SampleError::Odd { metric, at: at + 1 });
    }
    // -0 is 0.
    let mut sorted: Vec<f64> = samples.iter().map(|sample| sample.abs()).collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * 9).div_ceil(10).saturating_sub(1);
    match (sorted.first(), sorted.get(rank), sorted.last()) {
        (Some(min), Some(p90), Some(max)) => Ok(Extent { p90: *p90, min: *min, max: *max }),
        _ => Err(SampleError::None(metric)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(samples: &[f64]) -> Result<Computed, SampleError> {
        compute(&Samples {
            test_type: TestType::Latency,
            latency_us: samples.to_vec(),
            throughput_gbps: vec![0.0],
        })
    }

    #[test]
    fn the_ninetieth_percentile_is_the_nearest_rank() {
        for (count, expected) in
            [(1, 1.0), (2, 2.0), (9, 9.0), (10, 9.0), (11, 10.0), (20, 18.0), (30, 27.0), (100, 90.0)]
        {
            let samples: Vec<f64> = (1..=count).rev().map(f64::from).collect();
            assert_eq!(latency(&samples).unwrap().latency.unwrap().p90, expected, "{count}");
        }
    }

    #[test]
    fn exactly_half_is_stable_however_it_is_written() {
        for tenth in 1..2_000 {
            let min = f64::from(tenth) / 10.0;
            let max = f64::from(tenth * 15) / 100.0;
            assert_eq!(latency(&[min, max]).unwrap().anomaly, None, "{min} {max}");
            assert_eq!(latency(&[min, max * 1.001]).unwrap().anomaly, Some(Anomaly::HighVariance), "{min}");
        }
    }

    #[test]
    fn a_drop_outranks_a_variance_and_what_was_not_measured_does_not_count() {
        assert_eq!(latency(&[0.0, 10.0, 1_000.0]).unwrap().anomaly, Some(Anomaly::ConnectivityDrop));
        assert_eq!(latency(&[-0.0, 1.0]).unwrap().latency.unwrap().min.to_bits(), 0.0_f64.to_bits());
        assert_eq!(latency(&[100.0, 110.0]).unwrap().throughput, None);
    }

    #[test]
    fn no_sample_and_no_number_are_reported() {
        assert_eq!(latency(&[]), Err(SampleError::None("latency_us")));
        for odd in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(latency(&[1.0, odd]), Err(SampleError::Odd { metric: "latency_us", at: 2 }));
        }
    }
}
