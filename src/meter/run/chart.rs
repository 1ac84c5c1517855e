//! A picture of the samples against the baseline.

use super::fold::Run;
use super::sample::Outcome;
use super::step::Side;
use crate::pcap::{Panel, PlotError, samples};

/// Draws the samples from the source to the destination; `None` where there is none.
///
/// # Errors
/// Fails where drawing itself fails.
pub fn chart(run: &Run) -> Result<Option<Vec<u8>>, PlotError> {
    let ask = run.ask();
    let series = Side::Destination.of(&run.series);
    let [judged, _] = run.judged();
    let baseline = run.comparison().and_then(|comparison| comparison.baseline);
    let metrics = [(true, ask.test_type.latency()), (false, ask.test_type.throughput())];
    let point = |outcome: &Outcome| outcome.counted().map(|figure| (figure, outcome.error().is_some()));
    let panels: Vec<Panel> = metrics
        .into_iter()
        .filter(|(latency, asked)| *asked && !series.counted(*latency).is_empty())
        .map(|(latency, _)| Panel {
            name: if latency { "latency, microseconds" } else { "throughput, Gbit/s" }.to_owned(),
            points: series.of(latency).iter().map(point).collect(),
            level: judged.and_then(|judged| judged.extent(latency)).map(|extent| extent.p90),
            before: baseline
                .as_ref()
                .and_then(|one| if latency { one.latency_p90 } else { one.throughput_p90 }),
        })
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let name = |name: &str| name.chars().filter(char::is_ascii_graphic).take(40).collect::<String>();
    let title = format!("{} to {}", name(&ask.source), name(&ask.destination));
    let below = format!("{} iterations, session {}", ask.iterations, ask.session);
    samples(&title, &below, &panels).map(Some)
}
