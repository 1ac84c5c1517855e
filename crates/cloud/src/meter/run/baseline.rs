//! An earlier run, and what differs from it.

use serde_json::{Value, json};

use super::sample::Assessment;

/// An earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// When it was.
    pub timestamp: Option<String>,
    /// The 90th percentile of its latencies, in microseconds.
    pub latency_p90: Option<f64>,
    /// The 90th percentile of its throughputs, in gigabits a second.
    pub throughput_p90: Option<f64>,
}

/// Why a text is no baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// It is no document.
    #[error("it is no JSON document")]
    Document,
    /// It tells no figure.
    #[error("it holds neither `latency_p90` nor `throughput_p90`")]
    Figures,
}

impl Baseline {
    /// Reads a baseline, or the result of a run.
    ///
    /// # Errors
    /// Fails where it is neither.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let document: Value = serde_json::from_str(text).map_err(|_| BaselineError::Document)?;
        let figures = document.get("results").unwrap_or(&document);
        // Below nothing there is nothing, and of nothing there are no percents.
        let figure = |name: &str| figures.get(name).and_then(Value::as_f64).filter(|figure| *figure > 0.0);
        let (latency_p90, throughput_p90) = (figure("latency_p90"), figure("throughput_p90"));
        if latency_p90.is_none() && throughput_p90.is_none() {
            return Err(BaselineError::Figures);
        }
        let at = document.get("test_metadata").unwrap_or(&document).get("timestamp");
        let timestamp = at.and_then(Value::as_str).map(|text| text.chars().take(40).collect());
        Ok(Self { timestamp, latency_p90, throughput_p90 })
    }
}

/// What differs from an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The earlier run.
    pub baseline: Option<Baseline>,
    /// Why there is none, where one was asked for.
    pub missing: Option<String>,
    /// How many percent more latency.
    pub latency: Option<f64>,
    /// How many percent more throughput.
    pub throughput: Option<f64>,
    /// How many percent worse is a regression.
    pub tolerance: f64,
}

impl Comparison {
    /// Compares a run with an earlier one.
    #[must_use]
    pub fn new(
        judged: &Assessment,
        baseline: Option<Baseline>,
        missing: Option<String>,
        tolerance: f64,
    ) -> Self {
        let delta = |latency: bool, before: Option<f64>| {
            let (now, before) = (judged.extent(latency)?.p90, before?);
            Some((now - before) / before * 100.0)
        };
        let (latency, throughput) = match &baseline {
            Some(baseline) => (delta(true, baseline.latency_p90), delta(false, baseline.throughput_p90)),
            None => (None, None),
        };
        Self { baseline, missing, latency, throughput, tolerance }
    }

    /// Tells whether the run is worse than it may be.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.latency.is_some_and(|delta| delta > self.tolerance)
            || self.throughput.is_some_and(|delta| delta < -self.tolerance)
    }

    pub(super) fn to_json(&self) -> Value {
        let of = |figure: fn(&Baseline) -> Option<f64>| self.baseline.as_ref().and_then(figure);
        json!({
            "baseline_found": self.baseline.is_some(),
            "baseline_timestamp": self.baseline.as_ref().and_then(|baseline| baseline.timestamp.as_deref()),
            "baseline_latency_p90": of(|baseline| baseline.latency_p90), "baseline_throughput_p90": of(|baseline| baseline.throughput_p90),
            "delta_pct_latency": self.latency, "delta_pct_throughput": self.throughput,
            "tolerance_pct": self.tolerance, "regression": self.baseline.as_ref().map(|_| self.is_regression()), "note": self.missing,
        })
    }
}
