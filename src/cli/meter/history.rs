//! `ghost meter history`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::print::harmless;
use crate::cli::print::line;
use crate::cli::root::Global;
use crate::cli::setup::Setup;
use ghost_cloud::meter::run::{PastRun, Store};

/// The arguments of `ghost meter history`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
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
    let is = |past: &PastRun, wanted: &Option<String>, keys: [&str; 2]| {
        let metadata = past.document.get("test_metadata");
        let own = |key: &str| metadata.and_then(|metadata| metadata.get(key)).and_then(Value::as_str);
        wanted.as_deref().is_none_or(|wanted| keys.iter().any(|key| own(key) == Some(wanted)))
    };
    let chosen: Vec<&PastRun> = all
        .iter()
        .filter(|past| is(past, &arguments.source, ["source", "source_ip"]))
        .filter(|past| is(past, &arguments.dest, ["destination", "destination_ip"]))
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

/// Tells of a run in a line.
fn short(past: &PastRun) -> String {
    let at = |path: &str| past.document.pointer(path);
    let text = |path: &str| at(path).and_then(Value::as_str).unwrap_or("?").to_owned();
    let begun: String = text("/begun").chars().take(16).collect::<String>().replace('T', " ");
    if !past.whole {
        let what = if at("/aborted").is_some_and(|aborted| !aborted.is_null()) {
            "aborted in the preflight"
        } else {
            "did not come to its end; what was measured is kept"
        };
        return format!("{begun}  {}  {what}", past.session);
    }
    let number = |path: &str, unit: &str, digits: usize| {
        at(path).and_then(Value::as_f64).map(|number| format!("{number:.digits$} {unit}"))
    };
    let figures = [number("/results/latency_p90", "µs", 1), number("/results/throughput_p90", "Gbps", 3)];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let anomaly = at("/results/anomaly_type").and_then(Value::as_str);
    let stable = match (anomaly, at("/results/is_stable").and_then(Value::as_bool)) {
        (Some(anomaly), _) => anomaly,
        (None, Some(_)) => "STABLE",
        (None, None) => "UNKNOWN",
    };
    let baseline = at("/test_metadata/is_baseline").and_then(Value::as_bool) == Some(true);
    let regression = at("/comparison/regression").and_then(Value::as_bool) == Some(true);
    let more = [(baseline, "  baseline"), (regression, "  REGRESSION")];
    let more: String = more.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    format!(
        "{begun}  {}  {} → {}  {}  {}  {stable}{more}",
        past.session,
        text("/test_metadata/source"),
        text("/test_metadata/destination"),
        text("/status"),
        figures.join(", ")
    )
}
