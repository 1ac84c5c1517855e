//! Packets over time, and below them what went wrong.

use plotters::prelude::*;

use super::picture::Picture;
use crate::report::whole;
use crate::series::{Timeline, TimelineColumn};
use ghost_plot::PlotError;
use ghost_plot::canvas::{Area, BLUE, FAINT, FONT, INK, Legend, Mark, PURPLE, RED, draw, failed, text};
use ghost_plot::scale::{Unit, count, span, tick};

/// Bars that are thinner than this are dust.
const MAX_COLUMNS: usize = 128;
const MIN_COLUMNS: usize = 16;

/// Draws the picture, where there is a span of time.
pub(super) fn packets(timeline: &Timeline, name: &str) -> Result<Option<Picture>, PlotError> {
    let all = sum(timeline.columns());
    if timeline.span() == 0 || all.packets < 2 {
        return Ok(None);
    }
    // So few packets in a column say nothing of a rate.
    let wanted = (all.packets / 4).clamp(MIN_COLUMNS as u64, MAX_COLUMNS as u64) as usize;
    let together = timeline.columns().len().div_ceil(wanted);
    let columns: Vec<TimelineColumn> = timeline.columns().chunks(together).map(sum).collect();
    let width = timeline.width() * together as u64;
    let title = format!("{name}: packets over time");
    let below =
        format!("{} packets in {}; one bar is {}", whole(all.packets), span(timeline.span()), span(width));
    let mut legend = vec![Legend { color: BLUE, mark: Mark::Square, name: "packets per second".to_owned() }];
    let troubles = KINDS.map(|kind| (kind, (kind.count)(&all)));
    for (kind, count) in troubles.iter().filter(|(_, count)| *count > 0) {
        let name = format!("{} ({})", kind.name, whole(*count));
        legend.push(Legend { color: kind.color, mark: Mark::Square, name });
    }
    let trouble = legend.len() > 1;
    let png = draw(&title, &below, &legend, |area| {
        if !trouble {
            return rates(area, &columns, width, timeline.span(), true);
        }
        let (upper, lower) = area.split_vertically(290);
        rates(&upper, &columns, width, timeline.span(), false)?;
        troubled(&lower, &columns, width, timeline.span())
    })?;
    Ok(Some(Picture { kind: "packets", title, png }))
}

/// Something that goes wrong.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    color: RGBColor,
    count: fn(&TimelineColumn) -> u64,
}

const KINDS: [Kind; 3] = [
    Kind { name: "retransmissions", color: RED, count: |column| column.again },
    Kind { name: "zero windows", color: PURPLE, count: |column| column.closed },
    Kind { name: "resets", color: INK, count: |column| column.resets },
];

fn sum(columns: &[TimelineColumn]) -> TimelineColumn {
    let mut sum = TimelineColumn::default();
    columns.iter().for_each(|column| sum.join(*column));
    sum
}

fn rates(
    area: &Area<'_>,
    columns: &[TimelineColumn],
    width: u64,
    whole: u64,
    last: bool,
) -> Result<(), PlotError> {
    let rate = |column: &TimelineColumn| column.packets as f64 * 1e9 / width as f64;
    let bars: Vec<Vec<(f64, RGBColor)>> = columns.iter().map(|column| vec![(rate(column), BLUE)]).collect();
    chart(area, &bars, width, whole, last)
}

fn troubled(area: &Area<'_>, columns: &[TimelineColumn], width: u64, whole: u64) -> Result<(), PlotError> {
    let bar = |column: &TimelineColumn| {
        KINDS.iter().map(|kind| ((kind.count)(column) as f64, kind.color)).collect()
    };
    let bars: Vec<Vec<(f64, RGBColor)>> = columns.iter().map(bar).collect();
    text(area, "of these, per bar:", (16, 0), 18, INK)?;
    chart(&area.margin(22, 0, 0, 0), &bars, width, whole, true)
}

/// Draws bars that are parts upon parts.
fn chart(
    area: &Area<'_>,
    bars: &[Vec<(f64, RGBColor)>],
    width: u64,
    whole: u64,
    last: bool,
) -> Result<(), PlotError> {
    let unit = Unit::of(whole);
    let height = |bar: &Vec<(f64, RGBColor)>| bar.iter().map(|(part, _)| part).sum::<f64>();
    let most = bars.iter().map(height).fold(1.0, f64::max) * 1.08;
    let wide = unit.count(width);
    let end = (wide * bars.len() as f64).max(f64::MIN_POSITIVE);
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(if last { 60 } else { 8 })
        .y_label_area_size(90)
        .margin_top(8)
        .build_cartesian_2d(0.0..end, 0.0..most)
        .map_err(failed)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style((FONT, 20))
        .axis_desc_style((FONT, 20))
        .y_labels((most as usize + 1).clamp(2, 5))
        .y_label_formatter(&count)
        .x_label_formatter(&tick);
    let words = format!("{} since the first packet", unit.words);
    if last {
        mesh.x_labels(9).x_desc(words);
    } else {
        mesh.x_labels(0);
    }
    mesh.draw().map_err(failed)?;
    for (at, bar) in bars.iter().enumerate() {
        let (left, right) = (at as f64 * wide, (at as f64 + 0.92) * wide);
        let mut bottom = 0.0;
        for (part, color) in bar.iter().filter(|(part, _)| *part > 0.0) {
            let place = [(left, bottom), (right, bottom + part)];
            chart.draw_series([Rectangle::new(place, color.filled())]).map_err(failed)?;
            bottom += part;
        }
    }
    Ok(())
}
