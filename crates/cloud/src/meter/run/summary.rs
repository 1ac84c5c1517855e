//! The summary of a run: it fits a screen.

use super::progress::{Run, State};
use super::sample::{Assessment, Outcome, Series};
use super::step::Side;
use crate::meter::Anomaly;

/// How many errors and warnings of each kind stand in it.
const MAX_ERRORS_SHOWN: usize = 3;

/// Tells of a run in a few lines; `audit` is where its result lies.
#[must_use]
pub fn summary(run: &Run, audit: &str) -> String {
    let ask = run.ask();
    let [source, destination] = match &run.ends {
        Some(ends) => ends.each_ref().map(|end| match end.address.to_string() {
            address if address == end.name => address,
            address => format!("{} ({address})", end.name),
        }),
        None => [ask.source.clone(), ask.destination.clone()],
    };
    let kind = match (ask.test_type.latency(), ask.test_type.throughput()) {
        (true, true) => "both",
        (true, false) => "latency",
        (false, _) => "throughput",
    };
    let [judged, back] = run.judged();
    let mut lines = vec![
        format!("Session:    {}", ask.session),
        format!("Source:     {source}  →  {destination}"),
        format!("Test:       {kind}  |  {} iterations", ask.iterations),
        format!("Status:     {}", run.state().word().to_uppercase().replace('_', " ")),
    ];
    if let Some(trouble) = run.trouble() {
        lines.push(format!("Reason:     {}", trouble.text));
    }
    let comparison = run.comparison();
    let directions = [(judged, Side::Destination, ""), (back, Side::Source, " back")];
    for (judged, side, label_suffix) in directions {
        let Some(judged) = judged else { continue };
        lines.push(String::new());
        let compared = comparison.as_ref().filter(|_| label_suffix.is_empty());
        let deltas = compared.map_or((None, None), |comparison| (comparison.latency, comparison.throughput));
        for (latency, delta) in [(true, deltas.0), (false, deltas.1)] {
            lines.extend(figure(run, &judged, latency, label_suffix, delta));
        }
        lines.push(stability(&judged));
        lines.extend(errors(side.of(&run.series)));
    }
    if let Some(comparison) = &comparison {
        lines.push(match (&comparison.missing, comparison.is_regression()) {
            (Some(missing), _) => format!("Baseline:   none: {missing}"),
            (None, true) => format!("Baseline:   REGRESSION of more than {} %", comparison.tolerance),
            (None, false) => "Baseline:   no regression".to_owned(),
        });
    }
    lines.push(String::new());
    lines.extend(
        run.warnings.iter().take(2 * MAX_ERRORS_SHOWN).map(|warning| format!("Warning:    {warning}")),
    );
    if run.is_baseline() {
        lines.push("Kept as the baseline of these two.".to_owned());
    }
    if !run.left().is_empty() {
        lines.push(format!("NEEDS CLEANUP: servers on {}", run.left().join(", ")));
    }
    lines.push(format!("Audit:      {audit}"));
    if run.state() == State::Success && ask.storage.is_some() {
        lines.push(format!("Blob:       {}", run.uploaded.as_deref().unwrap_or("upload failed")));
    }
    let rule = "=".repeat(37);
    format!("{rule}\n=== Ghost Pipe Meter — Results ===\n{rule}\n{}\n{rule}", lines.join("\n"))
}

fn figure(
    run: &Run,
    judged: &Assessment,
    latency: bool,
    label_suffix: &str,
    delta: Option<f64>,
) -> Option<String> {
    let asked = if latency { run.ask().test_type.latency() } else { run.ask().test_type.throughput() };
    if !asked {
        return None;
    }
    let (name, worse, better) =
        if latency { ("Latency", "slower", "faster") } else { ("Throughput", "higher", "lower") };
    let label = format!("{name}{label_suffix} (P90):");
    let Some(extent) = judged.extent(latency) else { return Some(format!("{label:<18} no sample")) };
    let shown = |figure: f64| if latency { format!("{figure:.1} µs") } else { gigabits(figure) };
    let word = |delta: f64| if delta >= 0.0 { worse } else { better };
    let delta =
        delta.map(|delta| format!("  ← {delta:+.1}% vs baseline ({})", word(delta))).unwrap_or_default();
    Some(format!(
        "{label:<18} {:>12}   min {}, max {}{delta}",
        shown(extent.p90),
        shown(extent.min),
        shown(extent.max)
    ))
}

/// Returns a throughput with two digits, and with more where these would be zeros.
fn gigabits(figure: f64) -> String {
    if figure >= 0.1 || figure == 0.0 { format!("{figure:.2} Gbps") } else { format!("{figure:.4} Gbps") }
}

fn stability(judged: &Assessment) -> String {
    let word = match (judged.is_stable, judged.anomaly()) {
        (_, Some(Anomaly::ConnectivityDrop)) => "CONNECTIVITY_DROP",
        (_, Some(Anomaly::HighVariance)) => "HIGH_VARIANCE",
        (Some(_), None) => "STABLE",
        (None, None) => "UNKNOWN",
    };
    let open = if judged.is_stable.is_none() { " (not every iteration could be counted)" } else { "" };
    format!("Stability:  {word}{open}")
}

/// Names iterations that went wrong.
fn errors(series: &Series) -> Vec<String> {
    let mut lines = Vec::new();
    for (latency, name) in [(true, "latency"), (false, "throughput")] {
        let wrong: Vec<(usize, &Outcome)> =
            series.of(latency).iter().enumerate().filter(|(_, one)| one.error().is_some()).collect();
        lines.extend(wrong.iter().take(MAX_ERRORS_SHOWN).map(|(at, one)| {
            let error: String = one.error().unwrap_or_default().chars().take(120).collect();
            let counts = if one.counted().is_some() { "counts as 0" } else { "left out" };
            format!("  {name} {}: {error} ({counts})", at + 1)
        }));
        let more = wrong.len().saturating_sub(MAX_ERRORS_SHOWN);
        lines.extend((more > 0).then(|| format!("  {name}: {more} more went wrong")));
    }
    lines
}
