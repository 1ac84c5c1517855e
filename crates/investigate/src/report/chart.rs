//! The pictures of a session: those that belong to captures, and those of measurements.

use serde::Deserialize;

use crate::report::packets::{analyzed, machine_of};
use crate::state::State;

/// The pictures that a capture may have.
const KINDS: [(&str, &str); 3] =
    [("packets", "packets over time"), ("rtt", "round trips over time"), ("flow", "the worst connection")];

/// A picture that was written when a capture was analyzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The name of its file in the folder of captures.
    pub file: String,
    /// What it shows.
    pub title: String,
}

/// Returns the pictures that the analyses of a session may have written, in order; the caller checks whether they exist.
#[must_use]
pub fn charts(state: &State) -> Vec<Chart> {
    let of = |name: String| {
        let machine = machine_of(state, &name).unwrap_or_else(|| name.clone());
        KINDS.map(|(kind, shows)| Chart {
            file: format!("{name}_{kind}.png"),
            title: format!("{machine}: {shows}"),
        })
    };
    analyzed(state).into_iter().flat_map(of).collect()
}

/// The tool whose results are drawn.
const TOOL: &str = "run_pipe_meter";

/// Limits the charts of a session.
const MAX_MEASUREMENT_CHARTS: usize = 8;

/// Limits the samples of a chart; the tool takes fewer.
const MAX_SAMPLES: usize = 100;

/// A picture, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasurementChart {
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
struct MeasurementResult {
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
    samples.get(..MAX_SAMPLES).unwrap_or(samples)
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
        let metrics = self.metrics().into_iter().filter_map(|metric| {
            let before = metric.before.map(|before| format!(", before it was {before}")).unwrap_or_default();
            Some(format!("{} {} {} in the 90th percentile{before}", metric.name, metric.level?, metric.unit))
        });
        format!(
            "Measured from {} to {}: {}",
            self.source,
            self.destination,
            metrics.collect::<Vec<_>>().join("; ")
        )
    }
}

/// Draws each measurement of a session, in order; nothing where there is none, or where pictures are not built in.
#[must_use]
pub fn measurement_charts(state: &State) -> Vec<MeasurementChart> {
    let results = state.calls().filter(|call| call.call.tool == TOOL);
    let results = results.filter_map(|call| call.returned.as_ref());
    let facts = results.filter_map(|result| serde_json::from_str::<MeasurementResult>(&result.content).ok());
    let drawn = facts.filter_map(|MeasurementResult { facts }| {
        if facts.metrics().iter().all(|metric| metric.samples.is_empty()) {
            return None;
        }
        let bytes = drawn(&facts)?;
        let name: String = facts.session_id.chars().filter(|char| is_plain(*char)).take(80).collect();
        Some(MeasurementChart {
            file: format!("{name}_measured.png"),
            title: format!("{} to {}: what was measured", facts.source, facts.destination),
            alt: facts.alt(),
            bytes,
        })
    });
    drawn.take(MAX_MEASUREMENT_CHARTS).collect()
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
mod measurement_tests {
    use serde_json::{Value, json};

    use super::measurement_charts;
    use crate::event::{Event, Returned};
    use crate::report::tests::Ledger;

    fn charts_of(facts: Value) -> Vec<super::MeasurementChart> {
        let mut ledger = Ledger::open("x");
        ledger.calls(0, "c1", "run_pipe_meter");
        ledger.add(Event::Returned(Returned {
            call: "c1".to_owned(),
            tool: "run_pipe_meter".to_owned(),
            content: json!({"status": "completed", "facts": facts}).to_string(),
            is_error: false,
            refused: None,
        }));
        measurement_charts(&ledger.state())
    }

    #[test]
    fn a_run_is_drawn_with_what_it_is_compared_with() {
        let drawn = charts_of(json!({
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
        assert!(charts_of(json!({"session_id": "s", "source": "a", "destination": "b"})).is_empty());
        assert!(
            charts_of(json!({"session_id": "s", "source": "a", "destination": "b", "latency_us": [-1.0]}))
                .is_empty()
        );
        assert!(charts_of(json!({"latency_us": [1.0]})).is_empty(), "whatever a result lacks");
        for huge in [1e300, f64::MAX] {
            let facts =
                json!({"session_id": "s", "source": "a", "destination": "b", "throughput_gbps": [huge]});
            assert!(charts_of(facts).is_empty(), "no axis reaches so far");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::charts;
    use crate::report::tests::Ledger;

    #[test]
    fn each_analyzed_capture_has_its_pictures_once() {
        let mut ledger = Ledger::open("x");
        ledger.turn(0, &["c1"], None);
        for id in 1..3 {
            let what =
                json!({"chore": "analyze", "work": [["source", "cap-1", "p"], ["source", "../../etc", "p"]]});
            ledger.observe(id, "c1", None, &what.to_string());
        }
        ledger.observe(3, "c1", None, "{\"chore\":\"verify\",\"file\":\"cap-1.cap\",\"bytes\":1}");
        let names: Vec<String> = charts(&ledger.state()).into_iter().map(|chart| chart.file).collect();
        assert_eq!(names, ["cap-1_packets.png", "cap-1_rtt.png", "cap-1_flow.png"]);
    }
}
