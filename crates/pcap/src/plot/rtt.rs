//! Round trips over time.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::picture::Picture;
use crate::report::whole;
use crate::series::{RttHistogram, Timeline};
use ghost_plot::PlotError;
use ghost_plot::canvas::{Area, BLUE, FAINT, FONT, GREEN, INK, Legend, Mark, RED, draw, failed};
use ghost_plot::scale::{Unit, millis, span, tick};

const MAX_COLUMNS: usize = 96;
const MIN_COLUMNS: u64 = 12;
/// How many round trips make a percentile of a column worth a point.
const MIN_SAMPLES: u64 = 12;
/// Fewer round trips than this have no percentiles.
const MIN_SAMPLES_PER_COLUMN: u64 = 30;
/// Beyond this the axis is logarithmic.
const MAX_LINEAR_RATIO: f64 = 20.0;

/// The percentiles, from the line in front to the one behind.
const LINES: [(u64, RGBColor, Mark); 3] =
    [(50, BLUE, Mark::Circle), (90, GREEN, Mark::Triangle), (99, RED, Mark::Cross)];

/// A line: places in time, and milliseconds; it ends where nothing was measured, and begins anew.
type Line = Vec<Vec<(f64, f64)>>;

/// Draws the picture, where there are round trips.
pub(super) fn rtt(timeline: &Timeline, name: &str) -> Result<Option<Picture>, PlotError> {
    let trips = timeline.rtts();
    let total = joined(trips);
    if total.count() == 0 || timeline.span() == 0 {
        return Ok(None);
    }
    let wanted = (total.count() / MIN_SAMPLES).clamp(MIN_COLUMNS, MAX_COLUMNS as u64) as usize;
    let together = trips.len().div_ceil(wanted);
    let columns: Vec<RttHistogram> = trips.chunks(together).map(joined).collect();
    let width = timeline.width() * together as u64;
    let unit = Unit::of(timeline.span());
    // Of a few, each is shown by its column's middle one.
    let few = total.count() < MIN_SAMPLES_PER_COLUMN;
    let shown = LINES.get(..if few { 1 } else { LINES.len() }).unwrap_or(&LINES);
    let lines: Vec<Line> =
        shown.iter().map(|(percent, _, _)| line(&columns, unit.count(width), *percent)).collect();
    let title = format!("{name}: TCP round trips over time");
    let below = format!(
        "{} round trips from a segment sent once to its acknowledgment as this capture point sees it; one point is {}",
        whole(total.count()),
        span(width)
    );
    let legend: Vec<Legend> = shown
        .iter()
        .map(|(percent, color, mark)| {
            let overall = total.percentile_ms(*percent).map_or_else(String::new, |ms| millis(&rounded(ms)));
            Legend {
                color: *color,
                mark: *mark,
                name: if few {
                    format!("median of each point (overall {overall})")
                } else {
                    format!("p{percent} (overall {overall})")
                },
            }
        })
        .collect();
    let end = unit.count(width) * columns.len() as f64;
    let png = draw(&title, &below, &legend, |area| panel(area, &lines, end, unit))?;
    Ok(Some(Picture { kind: "rtt", title, png }))
}

fn joined(trips: &[RttHistogram]) -> RttHistogram {
    let mut sum = RttHistogram::default();
    trips.iter().for_each(|trips| sum.join(trips));
    sum
}

fn line(columns: &[RttHistogram], width: f64, percent: u64) -> Line {
    let mut line = vec![Vec::new()];
    for (at, trips) in columns.iter().enumerate() {
        match (trips.percentile_ms(percent), line.last_mut()) {
            (Some(ms), Some(run)) => run.push(((at as f64 + 0.5) * width, ms)),
            (None, Some(run)) if !run.is_empty() => line.push(Vec::new()),
            (_, _) => {}
        }
    }
    line
}

/// Returns a number with three digits that count.
fn rounded(number: f64) -> f64 {
    if number < 1.0 { (number * 1000.0).round() / 1000.0 } else { (number * 10.0).round() / 10.0 }
}

fn panel(area: &Area<'_>, lines: &[Line], end: f64, unit: Unit) -> Result<(), PlotError> {
    let heights = || lines.iter().flatten().flatten().map(|(_, ms)| *ms);
    let (least, most) = (heights().fold(f64::MAX, f64::min), heights().fold(0.0, f64::max));
    let mut builder = ChartBuilder::on(area);
    builder.x_label_area_size(60).y_label_area_size(110).margin_top(8);
    if most / least > MAX_LINEAR_RATIO {
        let chart =
            builder.build_cartesian_2d(0.0..end, (least / 1.5..most * 1.5).log_scale()).map_err(failed)?;
        plot(chart, lines, unit)
    } else {
        let chart = builder.build_cartesian_2d(0.0..end, 0.0..most * 1.2).map_err(failed)?;
        plot(chart, lines, unit)
    }
}

fn plot<Y>(
    mut chart: ChartContext<'_, BitMapBackend<'_>, Cartesian2d<plotters::coord::types::RangedCoordf64, Y>>,
    lines: &[Line],
    unit: Unit,
) -> Result<(), PlotError>
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64> + AsRangedCoord,
{
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style((FONT, 20))
        .axis_desc_style((FONT, 20))
        .y_labels(7)
        .x_labels(9)
        .x_desc(format!("{} since the first packet", unit.words))
        .y_label_formatter(&millis)
        .x_label_formatter(&tick)
        .draw()
        .map_err(failed)?;
    for (line, (_, color, mark)) in lines.iter().zip(LINES).rev() {
        for run in line {
            chart.draw_series([PathElement::new(run.clone(), color.stroke_width(2))]).map_err(failed)?;
        }
        for point in line.iter().flatten().copied() {
            match mark {
                Mark::Triangle => {
                    chart.draw_series([TriangleMarker::new(point, 7, color.filled())]).map(drop)
                }
                Mark::Cross => chart.draw_series([Cross::new(point, 5, color.stroke_width(2))]).map(drop),
                Mark::Circle | Mark::Square | Mark::Line => {
                    chart.draw_series([Circle::new(point, 4, color.filled())]).map(drop)
                }
            }
            .map_err(failed)?;
        }
    }
    Ok(())
}
