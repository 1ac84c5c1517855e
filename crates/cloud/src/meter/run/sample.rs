//! What iterations brought, and what that says.

use serde_json::{Value, json};

use crate::meter::{Anomaly, Computed, Extent, Samples, TestType, compute};

/// What one iteration brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A figure.
    Measured(f64),
    /// It was refused, or timed out: that counts as 0.
    Failed(String),
    /// Its result cannot be read: that does not count.
    Unreadable(String),
}

impl Outcome {
    /// Returns the figure that counts.
    #[must_use]
    pub fn counted(&self) -> Option<f64> {
        match self {
            Self::Measured(figure) => Some(*figure),
            Self::Failed(_) => Some(0.0),
            Self::Unreadable(_) => None,
        }
    }

    /// Says what went wrong.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Measured(_) => None,
            Self::Failed(error) | Self::Unreadable(error) => Some(error),
        }
    }
}

/// The iterations in one direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Of latency, in microseconds.
    pub latency: Vec<Outcome>,
    /// Of throughput, in gigabits a second.
    pub throughput: Vec<Outcome>,
}

impl Series {
    /// Returns the figures of a metric that count.
    pub(super) fn counted(&self, latency: bool) -> Vec<f64> {
        self.of(latency).iter().filter_map(Outcome::counted).collect()
    }

    /// Returns the iterations of a metric.
    pub(super) fn of(&self, latency: bool) -> &[Outcome] {
        if latency { &self.latency } else { &self.throughput }
    }

    /// Says how many iterations there are.
    pub(super) fn count(&self) -> usize {
        self.latency.len() + self.throughput.len()
    }

    pub(super) fn push(&mut self, latency: bool, outcome: Outcome) {
        if latency { self.latency.push(outcome) } else { self.throughput.push(outcome) }
    }

    /// Returns what each iteration measured; `None` where one counted for nothing, or was not run.
    pub(super) fn samples(&self, latency: bool) -> Vec<Option<f64>> {
        let count = self.latency.len().max(self.throughput.len());
        let own = self.of(latency);
        (0..count).map(|at| own.get(at).and_then(Outcome::counted)).collect()
    }

    /// Returns the iterations as the contract has them.
    pub(super) fn iterations(&self) -> Value {
        let count = self.latency.len().max(self.throughput.len());
        let row = |at: usize| {
            let (latency, throughput) = (self.latency.get(at), self.throughput.get(at));
            let figure = |outcome: Option<&Outcome>| outcome.and_then(Outcome::counted);
            let mut row = json!({"iteration": at + 1, "latency_us": figure(latency), "throughput_gbps": figure(throughput)});
            for (name, outcome) in [("latency_error", latency), ("throughput_error", throughput)] {
                if let Some(error) = outcome.and_then(Outcome::error) {
                    put(&mut row, name, json!(error));
                }
            }
            row
        };
        (0..count).map(row).collect()
    }
}

/// The assessment of the iterations in one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Of what could be counted.
    pub computed: Computed,
    /// Whether it is stable; `None` where an iteration is missing that should count.
    pub is_stable: Option<bool>,
}

impl Assessment {
    /// Writes it as the contract has it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut document = self.computed.to_json();
        put(&mut document, "is_stable", json!(self.is_stable));
        document
    }

    /// Returns the extent of a metric.
    #[must_use]
    pub fn extent(&self, latency: bool) -> Option<Extent> {
        if latency { self.computed.latency } else { self.computed.throughput }
    }

    /// Returns what is wrong, if anything is.
    #[must_use]
    pub fn anomaly(&self) -> Option<Anomaly> {
        self.computed.anomaly
    }
}

/// Judges iterations; those that could not be read, and a metric of which none could be, leave it open whether it is stable.
#[must_use]
pub fn judge(test: TestType, wanted: u16, series: &Series) -> Assessment {
    let (latency_us, throughput_gbps) = (series.counted(true), series.counted(false));
    let (some_latency, some_throughput) =
        (test.latency() && !latency_us.is_empty(), test.throughput() && !throughput_gbps.is_empty());
    let kind = match (some_latency, some_throughput) {
        (true, true) => Some(TestType::Both),
        (true, false) => Some(TestType::Latency),
        (false, true) => Some(TestType::Throughput),
        (false, false) => None,
    };
    let whole = |asked: bool, count: usize| !asked || count == usize::from(wanted);
    let complete = whole(test.latency(), latency_us.len()) && whole(test.throughput(), throughput_gbps.len());
    let nothing = Computed { latency: None, throughput: None, anomaly: None };
    let computed =
        kind.and_then(|test_type| compute(&Samples { test_type, latency_us, throughput_gbps }).ok());
    let is_stable = computed.filter(|_| complete).map(|computed| computed.anomaly.is_none());
    Assessment { computed: computed.unwrap_or(nothing), is_stable }
}

/// Puts a field into a document.
pub(super) fn put(document: &mut Value, name: &str, value: Value) {
    if let Some(fields) = document.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
