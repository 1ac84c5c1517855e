//! A picture of the samples against the baseline.

use super::progress::Run;
use super::sample::Outcome;
use super::step::Side;
use ghost_plot::{Panel, PlotError, samples};

/// Whatever is larger is no measurement, and no axis reaches so far.
const MAX_CHART_VALUE: f64 = 1e15;

/// Draws the samples from the source to the destination; `None` where there is none.
///
/// # Errors
/// Fails where drawing itself fails.
pub fn chart(run: &Run) -> Result<Option<Vec<u8>>, PlotError> {
    let ask = run.ask();
    let series = Side::Destination.of(&run.series);
    let [judged, _] = run.judged();
    let baseline = run.comparison().and_then(|comparison| comparison.baseline);
    let point = |outcome: &Outcome| outcome.counted().map(|figure| (figure, outcome.error().is_some()));
    let drawn = |latency: bool| {
        let points = series.of(latency).iter().map(point).collect();
        let level = judged.and_then(|judged| judged.extent(latency)).map(|extent| extent.p90);
        let before =
            baseline.as_ref().and_then(|one| if latency { one.latency_p90 } else { one.throughput_p90 });
        panel(latency, points, level, before)
    };
    let metrics = [(true, ask.test_type.latency()), (false, ask.test_type.throughput())];
    let panels = metrics.into_iter().filter(|(_, asked)| *asked).map(|(latency, _)| drawn(latency)).collect();
    draw([&ask.source, &ask.destination], ask.session.as_str(), panels)
}

/// Returns what is drawn of a metric: each sample, and whether it stands for one that failed.
pub fn panel(
    latency: bool,
    points: Vec<Option<(f64, bool)>>,
    level: Option<f64>,
    before: Option<f64>,
) -> Panel {
    Panel {
        name: if latency { "latency, microseconds" } else { "throughput, Gbit/s" },
        points,
        level,
        before,
    }
}

/// Draws the metrics that have samples; `None` where none has.
pub fn draw(ends: [&str; 2], session: &str, mut panels: Vec<Panel>) -> Result<Option<Vec<u8>>, PlotError> {
    panels.retain(|panel| {
        let sampled = panel.points.iter().flatten().map(|(figure, _)| *figure);
        let mut figures = sampled.clone().chain(panel.level).chain(panel.before);
        sampled.count() > 0 && figures.all(|figure| (0.0..=MAX_CHART_VALUE).contains(&figure))
    });
    let Some(count) = panels.iter().map(|panel| panel.points.len()).max() else { return Ok(None) };
    let [source, destination] =
        ends.map(|name| name.chars().filter(char::is_ascii_graphic).take(40).collect::<String>());
    let below = format!("{count} iterations, session {session}");
    samples(&format!("{source} to {destination}"), &below, &panels).map(Some)
}
