//! Pictures of what was measured: the samples of each run, held against the run that it was compared with.

use serde::Deserialize;

use crate::state::State;

/// The tool whose results are drawn.
const TOOL: &str = "run_pipe_meter";

/// So many pictures belong to a session at most.
const MOST: usize = 8;

/// So many samples are drawn at most; the tool takes fewer.
const SAMPLES: usize = 100;

/// A picture, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The name of its file.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// The same for whoever cannot see it.
    pub alt: String,
    /// A PNG file.
    pub bytes: Vec<u8>,
}

/// The part of a result that is drawn.
#[derive(Deserialize)]
struct Told {
    facts: Facts,
}

#[derive(Deserialize)]
struct Facts {
    session_id: String,
    source: String,
    destination: String,
    #[serde(default)]
    latency_us: Vec<Option<f64>>,
    #[serde(default)]
    throughput_gbps: Vec<Option<f64>>,
    latency_p90_us: Option<f64>,
    throughput_p90_gbps: Option<f64>,
    comparison: Option<Compared>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Compared {
    baseline_latency_p90_us: Option<f64>,
    baseline_throughput_p90_gbps: Option<f64>,
}

/// One metric of a run.
struct Metric<'a> {
    name: &'static str,
    unit: &'static str,
    samples: &'a [Option<f64>],
    level: Option<f64>,
    before: Option<f64>,
}

fn first(samples: &[Option<f64>]) -> &[Option<f64>] {
    samples.get(..SAMPLES).unwrap_or(samples)
}

impl Facts {
    fn metrics(&self) -> [Metric<'_>; 2] {
        let Compared { baseline_latency_p90_us, baseline_throughput_p90_gbps } =
            self.comparison.unwrap_or_default();
        let metric = |name, unit, samples, level, before| Metric { name, unit, samples, level, before };
        let (latency, throughput) = (first(&self.latency_us), first(&self.throughput_gbps));
        [
            metric("latency", "microseconds", latency, self.latency_p90_us, baseline_latency_p90_us),
            metric(
                "throughput",
                "Gbit/s",
                throughput,
                self.throughput_p90_gbps,
                baseline_throughput_p90_gbps,
            ),
        ]
    }

    fn alt(&self) -> String {
        let told = self.metrics().into_iter().filter_map(|metric| {
            let before = metric.before.map(|before| format!(", before it was {before}")).unwrap_or_default();
            Some(format!("{} {} {} in the 90th percentile{before}", metric.name, metric.level?, metric.unit))
        });
        format!(
            "Measured from {} to {}: {}",
            self.source,
            self.destination,
            told.collect::<Vec<_>>().join("; ")
        )
    }
}

/// Draws each measurement of a session, in order; nothing where there is none, or where pictures are not built in.
#[must_use]
pub fn measured(state: &State) -> Vec<Measured> {
    let results = state.calls().filter(|call| call.call.tool == TOOL);
    let results = results.filter_map(|call| call.returned.as_ref());
    let facts = results.filter_map(|result| serde_json::from_str::<Told>(&result.content).ok());
    let drawn = facts.filter_map(|Told { facts }| {
        if facts.metrics().iter().all(|metric| metric.samples.is_empty()) {
            return None;
        }
        let bytes = drawn(&facts)?;
        let name: String = facts.session_id.chars().filter(|char| is_plain(*char)).take(80).collect();
        Some(Measured {
            file: format!("{name}_measured.png"),
            title: format!("{} to {}: what was measured", facts.source, facts.destination),
            alt: facts.alt(),
            bytes,
        })
    });
    drawn.take(MOST).collect()
}

/// No name leads out of a folder.
fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '-' || char == '_'
}

#[cfg(feature = "plot")]
fn drawn(facts: &Facts) -> Option<Vec<u8>> {
    use ghost_cloud::meter::run::{draw, panel};
    let panels = facts.metrics().into_iter().enumerate().map(|(number, metric)| {
        // An iteration that was refused or timed out counts as nothing.
        let points = metric.samples.iter().map(|sample| sample.map(|sample| (sample, sample == 0.0)));
        panel(number == 0, points.collect(), metric.level, metric.before)
    });
    draw([&facts.source, &facts.destination], &facts.session_id, panels.collect()).ok()?
}

#[cfg(not(feature = "plot"))]
fn drawn(_facts: &Facts) -> Option<Vec<u8>> {
    None
}

#[cfg(all(test, feature = "plot"))]
mod tests {
    use serde_json::{Value, json};

    use super::measured;
    use crate::event::{Event, Returned};
    use crate::report::tests::Ledger;

    fn told(facts: Value) -> Vec<super::Measured> {
        let mut ledger = Ledger::open("x");
        ledger.calls(0, "c1", "run_pipe_meter");
        ledger.add(Event::Returned(Returned {
            call: "c1".to_owned(),
            tool: "run_pipe_meter".to_owned(),
            content: json!({"status": "completed", "facts": facts}).to_string(),
            is_error: false,
            refused: None,
        }));
        measured(&ledger.state())
    }

    #[test]
    fn a_run_is_drawn_with_what_it_is_compared_with() {
        let drawn = told(json!({
            "session_id": "ghost-7k2f", "source": "web-1", "destination": "db-1", "latency_us": [120.0, null, 0.0],
            "latency_p90_us": 120.0, "throughput_gbps": [1.9], "throughput_p90_gbps": 1.9,
            "comparison": {"baseline_latency_p90_us": 100.0, "baseline_throughput_p90_gbps": null},
        }));
        let [one] = drawn.as_slice() else { panic!("{}", drawn.len()) };
        assert_eq!(one.file, "ghost-7k2f_measured.png");
        assert!(one.bytes.starts_with(b"\x89PNG"));
        assert_eq!(
            one.alt,
            "Measured from web-1 to db-1: latency 120 microseconds in the 90th percentile, before it was 100; \
            throughput 1.9 Gbit/s in the 90th percentile"
        );
    }

    #[test]
    fn what_measured_nothing_is_not_drawn() {
        assert!(told(json!({"session_id": "s", "source": "a", "destination": "b"})).is_empty());
        assert!(
            told(json!({"session_id": "s", "source": "a", "destination": "b", "latency_us": [-1.0]}))
                .is_empty()
        );
        assert!(told(json!({"latency_us": [1.0]})).is_empty(), "whatever a result lacks");
        for huge in [1e300, f64::MAX] {
            let facts =
                json!({"session_id": "s", "source": "a", "destination": "b", "throughput_gbps": [huge]});
            assert!(told(facts).is_empty(), "no axis reaches so far");
        }
    }
}
