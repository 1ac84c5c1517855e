//! `ghost meter history`.

use clap::Args;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::global::Global;
use crate::print::harmless;
use crate::print::line;
use crate::setup::Setup;
use ghost_cloud::meter::run::{PastRun, Store};

/// The arguments of `ghost meter history`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Only runs from this machine, by its name or address.
    #[arg(long, value_name = "VM|ADDRESS")]
    source: Option<String>,
    /// Only runs to this machine.
    #[arg(long, value_name = "VM|ADDRESS")]
    dest: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::new(global)?;
    let all = Store::open(setup.data()?)?.history()?;
    let is = |past: &PastRun, wanted: &Option<String>, names: fn(Metadata) -> [Option<String>; 2]| {
        let Some(wanted) = wanted else { return true };
        let metadata = RunDocument::read(past).test_metadata.unwrap_or_default();
        names(metadata).iter().flatten().any(|name| name == wanted)
    };
    let chosen: Vec<&PastRun> = all
        .iter()
        .filter(|past| is(past, &arguments.source, |metadata| [metadata.source, metadata.source_ip]))
        .filter(|past| is(past, &arguments.dest, |metadata| [metadata.destination, metadata.destination_ip]))
        .take(arguments.last)
        .collect();
    if arguments.json {
        let all: Vec<_> = chosen
            .iter()
            .map(|past| json!({"session": past.session, "whole": past.whole, "document": past.document}))
            .collect();
        line(&json!(all).to_string())?;
        return Ok(0);
    }
    if chosen.is_empty() {
        line("Nothing was measured yet.")?;
    }
    for past in chosen {
        line(&harmless(&short(past)))?;
    }
    Ok(0)
}

/// What a line says of a run, of its document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RunDocument {
    begun: Option<String>,
    aborted: Option<IgnoredAny>,
    status: Option<String>,
    test_metadata: Option<Metadata>,
    results: Option<Results>,
    comparison: Option<ComparisonResult>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    source: Option<String>,
    source_ip: Option<String>,
    destination: Option<String>,
    destination_ip: Option<String>,
    is_baseline: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Results {
    latency_p90: Option<f64>,
    throughput_p90: Option<f64>,
    anomaly_type: Option<String>,
    is_stable: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ComparisonResult {
    regression: Option<bool>,
}

impl RunDocument {
    /// Reads a kept document. One that is damaged says nothing.
    fn read(past: &PastRun) -> Self {
        Self::deserialize(&past.document).unwrap_or_default()
    }
}

/// Describes a run in a line.
fn short(past: &PastRun) -> String {
    let run = RunDocument::read(past);
    let (metadata, results) = (run.test_metadata.unwrap_or_default(), run.results.unwrap_or_default());
    let text = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
    let begun: String = text(run.begun).chars().take(16).collect::<String>().replace('T', " ");
    if !past.whole {
        let what = if run.aborted.is_some() {
            "aborted in the preflight"
        } else {
            "did not come to its end; what was measured is kept"
        };
        return format!("{begun}  {}  {what}", past.session);
    }
    let number = |number: Option<f64>, unit: &str, digits: usize| {
        number.map(|number| format!("{number:.digits$} {unit}"))
    };
    let figures = [number(results.latency_p90, "µs", 1), number(results.throughput_p90, "Gbps", 3)];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let stable = match (&results.anomaly_type, results.is_stable) {
        (Some(anomaly), _) => anomaly,
        (None, Some(_)) => "STABLE",
        (None, None) => "UNKNOWN",
    };
    let baseline = metadata.is_baseline == Some(true);
    let regression = run.comparison.unwrap_or_default().regression == Some(true);
    let more = [(baseline, "  baseline"), (regression, "  REGRESSION")];
    let more: String = more.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    format!(
        "{begun}  {}  {} → {}  {}  {}  {stable}{more}",
        past.session,
        text(metadata.source),
        text(metadata.destination),
        text(run.status),
        figures.join(", ")
    )
}
